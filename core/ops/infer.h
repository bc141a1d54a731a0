// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/ops/op.h"

#include <vector>

namespace qs {

/// Facts of every value of a graph, by ValueId. Unknown operators leave their outputs unknown; where inference finds
/// a contradiction the issue is kept and the outputs stay unknown. Types declared in the file fill what is unknown.
struct InferredFacts {
    std::vector<Fact> facts;
    std::vector<Issue> issues;
    const Fact& of(ValueId id) const { return facts[id.index()]; }
};
/// `outer`: of a subgraph, what is known of its inputs and of the values it reads from outside.
InferredFacts inferFacts(const Graph& graph, const OuterFacts& outer = {});
/// What follows from the graph's inputs and constants by its operators alone. What a file declares of other values may
/// be left over from before it was changed: enough to show, but nothing is to be computed from it.
InferredFacts inferFromInputs(const Graph& graph);

/// Fact of an initializer or another constant tensor.
Fact constantFact(const Tensor& tensor);
/// Helpers for infer functions.
Fact fact(DType dtype, std::optional<Dims> dims = std::nullopt);
Issue inferIssue(const Node& node, std::string what, std::string remedy = {});
/// Multidirectional broadcast of possibly unknown dims; an issue when two known sizes clash.
Result<std::optional<Dims>> broadcastDims(const Node& node, std::span<const Fact* const> inputs);

} // namespace qs
