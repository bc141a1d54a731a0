// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/rounding/attribute_differences.h"

namespace qs {

/// Where the quantized file computes another function than the float model, by what its operators say of themselves,
/// though the results may be close: Gelu by Tanh in place of Erf, another epsilon of a normalization.
std::vector<FunctionDifference> functionDifferences(const ComparePair& pair);

} // namespace qs
