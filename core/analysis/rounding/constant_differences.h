// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/rounding/attribute_differences.h"
#include "core/analysis/rounding/precision_step.h"

#include <vector>

namespace qs {

/// Constants that decide what a node computes and are other ones in the quantized file: single numbers that an
/// elementwise operator reads (an epsilon, a scale, what a mask writes, a cap), told of once for all that read them,
/// and factors of a normalization that the quantized file lost, where the float model multiplies by them behind it.
std::vector<FunctionDifference> constantDifferences(const ComparePair& pair);

/// Tables (embeddings, rotary ones) of which the quantized file has other rows than the float model, by more than
/// rounding. `step`: what is between the files.
std::vector<FunctionDifference> rowDifferences(const ComparePair& pair, const PrecisionStep& step);

} // namespace qs
