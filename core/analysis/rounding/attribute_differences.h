// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/pairs/compare_pair.h"

#include <string>
#include <vector>

namespace qs {

enum class AttributeKind {
    Numbers, ///< factors, epsilons, windows, ways to turn: another one is another function
    Shapes, ///< axes, kernels, paddings: where a file folds a node into another they differ in one function, too
};

/// Attributes in which nodes of the quantized file are not as the float model's nodes that they stand for: a sentence
/// each, without a full stop. `floatNode`: only of those that stand for this one; invalid: of all.
std::vector<std::string> attributeDifferences(const ComparePair& pair, AttributeKind kind, NodeId floatNode = {});

} // namespace qs
