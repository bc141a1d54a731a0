// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/layout/folded_graph.h"

#include <cstddef>

namespace qs::test {

/// Boxes without texts and edges between them, for the layout alone.
FoldedGraph boxesAndEdges(size_t boxes, const std::vector<std::pair<uint32_t, uint32_t>>& edges);
FoldedGraph chain(size_t boxes);
FoldedGraph diamond();
/// `blocks` times: box, branch of two boxes beside a straight edge, join.
FoldedGraph residual(size_t blocks);
/// One box, `width` boxes that read it, one that reads them.
FoldedGraph wide(size_t width);

/// float: x -> Conv -> Relu -> Conv -> Add(first Relu) -> y.
Graph floatGraph();
/// x -> three Relus, two of them in blocks of the same make -> y.
Graph repeatedBlocks();
/// floatGraph() in Q/DQ form: quantized input, weights, output of every operator.
Graph qdqGraph();
/// x -> QuantizeLinear -> QLinearConv -> DequantizeLinear -> y.
Graph qoperatorGraph();
/// x -> DynamicQuantizeLinear -> MatMulInteger -> Cast -> Mul -> y.
Graph dynamicGraph();

/// Embedding, layers of attention and a feed-forward part that all read one mask, head; named /encoder/layer.3/…, or
/// MatMul_31. `otherEnds`: an operator of the first and one of the last layer are others.
Graph transformer(size_t layers, bool scopes, bool otherEnds = false);
/// Layers of three nodes each, with a state that comes in and goes out; the model's input "all" is read by every layer.
Graph decoder(size_t layers);
/// The same graph, its nodes named by numbers, with the scopes of their names as metadata in PyTorch's form.
Graph toldByMetadata(const Graph& named);
/// Stages of residual blocks, a convolution with stride between them.
Graph residualStages(const std::vector<size_t>& blocks);
/// x -> Relu -> If with a branch of one node and one of two -> Tanh -> y.
Graph withBranches();
/// An If in the second branch of an If, and so on.
Graph withElseIfs(size_t depth);
/// Two chains of Relus, in scopes a and b, written in turns.
Graph twoInterleavedScopes(size_t each);

/// Initializers only.
ConstantLookup initializersOf(const Graph& graph);

} // namespace qs::test
