// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/measure/number.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace qs {

enum class BlameKind : uint8_t {
    Layer, ///< all nodes in one scope of names
    Node, ///< of the float model; with those before it that have no value that both models know
    WeightBlock, ///< of a node's weight that is stored in blocks: all blocks of some rows of its depth
    Cache, ///< the keys and values that a node remembers as codes
};
const char* blameKindName(BlameKind kind); ///< "layer", "node", "weight_block", "cache"

/// By how much a part of the quantized model moves the difference of two scores, put in the place of its float part.
struct BlamedUnit {
    std::string unit;
    BlameKind kind = BlameKind::Node;
    std::string parent; ///< the layer that a node is in, or the node of a weight or cache; empty: none
    Number forward; ///< with all that is before it quantized, and all that is behind it float
    Number backward; ///< the other way round
    Number alone; ///< with all else float
    Number restored; ///< with all else quantized: what would be undone if this part were float
    double moved() const; ///< to sort by: the mean size of those that there are
};

/// Why two models prefer different tokens. The difference is score(float's) − score(quantized's).
struct TokenBlame {
    size_t prompt = 0, position = 0;
    int64_t floatId = 0, quantId = 0; ///< the rivals: the best of each model, or the float model's two best
    double floatDifference = 0, quantDifference = 0;
    double total() const { return quantDifference - floatDifference; }
    /// In graph order, a layer before its nodes. Those without a parent sum to the total, nodes to their layer, in
    /// either direction; the blocks of a weight to their node but for what the rounding of its inputs does. Of those
    /// with blocks the nodes that moved most have them. What moves nothing is left out.
    std::vector<BlamedUnit> units;
};

} // namespace qs
