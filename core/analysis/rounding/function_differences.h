// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/pairs/compare_pair.h"

#include <string>
#include <vector>

namespace qs {

/// Where the quantized file computes another function than the float model, by what its operators say of themselves,
/// though the results may be close: Gelu by Tanh in place of Erf, another epsilon of a normalization. A sentence each,
/// without a full stop.
std::vector<std::string> functionDifferences(const ComparePair& pair);

} // namespace qs
