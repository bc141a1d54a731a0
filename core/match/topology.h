// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/match/alignment.h"
#include "core/match/graph_pair.h"

#include <map>
#include <unordered_map>

namespace qs {

/// A float value's partner among the roots of the quantized graph, while pairing goes on.
struct RootMatch {
    ValueId root;
    MatchMethod method = MatchMethod::Topology;
    double confidence = 1;
    bool wayPoint = false; ///< the walk goes on from there, but the two are not the same value
    bool later = false; ///< nor is what follows: the other file does that step further on, inside an operator
};

/// Correspondence under construction: float values to quantized roots, float nodes to quantized nodes.
struct Correspondence {
    std::unordered_map<ValueId, RootMatch> values; ///< by float root
    std::unordered_map<NodeId, NodeId> nodes; ///< float node -> quantized node
    std::unordered_map<NodeId, NodeId> taken; ///< quantized node -> float node
    /// Keeps what is there, unless that is but a way point.
    void set(ValueId f, const RootMatch& match)
    {
        const auto [it, isNew] = values.try_emplace(f, match);
        if (!isNew && it->second.wayPoint && !match.wayPoint)
            it->second = match;
    }
    void pairNodes(NodeId f, NodeId q)
    {
        nodes[f] = q;
        taken[q] = f;
    }
};

/// Extends a correspondence along both graphs from what is paired already (graph inputs, names), in topological order:
/// a float node whose inputs are paired gets the quantized reader of its partners with the same operator class; steps
/// that only one file has (folded BatchNormalization and activations, separate biases, reshapes) are walked through.
/// Heavy nodes with alike weights anchor what the walk cannot reach. Where numbers are known, readers that compute the
/// same are preferred, and what is different is walked through and no pair.
void extendByTopology(const GraphPair& g, Correspondence& found);

/// Cosine of two weights of equal size; also tries the transposed second matrix (rows x columns of the first).
struct WeightLikeness {
    double cosine = 0;
    bool transposed = false;
};
WeightLikeness weightLikeness(
    const std::vector<float>& a, const std::vector<float>& b, const Shape& shapeA, const Shape& shapeB);

} // namespace qs
