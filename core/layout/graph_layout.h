// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/base/work/cancel.h"
#include "core/layout/folded_graph.h"

#include <functional>
#include <optional>
#include <vector>

namespace qs {

struct LayoutPoint {
    double x = 0, y = 0;
};
struct LayoutSize {
    double width = 0, height = 0;
};
struct LayoutRect {
    double x = 0, y = 0, width = 0, height = 0; ///< top left corner; y grows downwards
    double centreX() const { return x + width / 2; }
    double centreY() const { return y + height / 2; }
    double right() const { return x + width; }
    double bottom() const { return y + height; }
};

/// A cubic Bezier path: the start, then three points for each piece (two controls and an end).
struct EdgePath {
    std::vector<LayoutPoint> points;
    /// Centre of the badge; edges of one tensor with the same badge share one, held by the first of them.
    std::optional<LayoutPoint> badge;
};

/// Places of everything in a FoldedGraph, in its order; all coordinates are positive.
struct GraphLayout {
    LayoutSize size;
    std::vector<LayoutRect> boxes;
    std::vector<EdgePath> edges;
};

enum class LayoutDirection { TopDown };

using BoxSize = std::function<LayoutSize(const DisplayBox&)>;

struct LayoutOptions {
    LayoutDirection direction = LayoutDirection::TopDown;
    BoxSize boxSize; ///< null: estimatedBoxSize
    size_t largestPiece = 500; ///< boxes; more than that are put on a plain grid of layers
    double rankGap = 30; ///< between layers; room for a badge
    double boxGap = 28; ///< between boxes of a layer
    double margin = 24;
};

/// Size from an estimate of the text's width (12 px bold title, room for a number at the right).
LayoutSize estimatedBoxSize(const DisplayBox& box);

/// Layered layout from top to bottom. The graph is cut at the boxes that every path passes, the pieces are laid out
/// one by one; linear in the number of pieces, equal for equal input. Safe from any thread (one at a time inside).
/// The only Issue is cancellation, noticed between pieces.
Result<GraphLayout> layoutGraph(const FoldedGraph& graph, const LayoutOptions& options, const CancelToken& cancel);

} // namespace qs
