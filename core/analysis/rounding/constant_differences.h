// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/rounding/attribute_differences.h"

#include <vector>

namespace qs {

/// Constants that decide what a node computes and are other ones in the quantized file: single numbers that an
/// elementwise operator reads (an epsilon, a scale, what a mask writes, a cap), told of once for all that read them,
/// and factors of a normalization that the quantized file lost, where the float model multiplies by them behind it.
std::vector<FunctionDifference> constantDifferences(const ComparePair& pair);

} // namespace qs
