// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/pairs/compare_pair.h"
#include "core/base/result.h"

#include <memory>

namespace qs {

/// The float model with its weights rounded as coarsely as the quantized file has them: to as many bits, with a scale
/// for each channel or block where that has one. Symmetric; weights in bodies and in parts stay as they are.
Result<std::shared_ptr<const Plan>> withRoundedWeights(const ComparePair& pair);

} // namespace qs
