// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/layout/layout_options.h"
#include "core/layout/pieces.h"

#include <vector>

namespace qs {

/// Centres of a piece's boxes and paths of its edges, in the piece's order; any origin, y downwards.
struct PieceLayout {
    std::vector<LayoutPoint> centres;
    std::vector<EdgePath> edges;
};

/// What the engines need to know of a piece.
struct PieceInput {
    const FoldedGraph& graph;
    const Piece& piece;
    const std::vector<LayoutSize>& sizes; ///< by box of the graph
    const std::vector<uint32_t>& layers; ///< by box of the graph
    const LayoutOptions& options;
};

/// Graphviz's dot; one call at a time in the whole program.
PieceLayout layoutWithDot(const PieceInput& input);

/// Boxes on their layers, ordered by the mean of their neighbours, edges as plain curves. For pieces that are too
/// large for dot, and for two boxes below each other.
PieceLayout layoutOnGrid(const PieceInput& input);

/// A curve that leaves `from` downwards and enters `to` from above.
EdgePath verticalCurve(LayoutPoint from, LayoutPoint to);

} // namespace qs
