// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/pairs/compare_pair.h"

#include <set>

namespace qs {

/// Values that a normalization or a Mul by constants makes of other size in the quantized file, by factors of their
/// channels, which the weights behind take away again: SmoothQuant without new nodes.
EqualizedValues smoothedValues(const ComparePair& pair);

/// The float model's constants that have these factors in the quantized file.
std::set<ValueId> smoothedConstants(const ComparePair& pair);

} // namespace qs
