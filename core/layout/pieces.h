// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/layout/folded_graph.h"

#include <cstdint>
#include <vector>

namespace qs {

/// Layer of every box: longest way from a source; boxes without inputs lie just above their first consumer.
std::vector<uint32_t> layersOf(const FoldedGraph& graph);

/// A part of the graph between two layers with a single box each that no edge passes by; both belong to the piece.
struct Piece {
    std::vector<uint32_t> boxes; ///< ascending
    std::vector<uint32_t> edges; ///< ascending
    uint32_t firstLayer = 0, lastLayer = 0;
    uint32_t top = FoldedGraph::kNoBox; ///< the box shared with the piece before
};

/// Pieces from top to bottom. Every edge is in exactly one of them.
std::vector<Piece> cutIntoPieces(const FoldedGraph& graph, const std::vector<uint32_t>& layers);

} // namespace qs
