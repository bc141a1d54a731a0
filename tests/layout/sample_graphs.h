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

/// Initializers only.
ConstantLookup initializersOf(const Graph& graph);

} // namespace qs::test
