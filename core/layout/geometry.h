// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

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
    std::vector<LayoutRect> frames;
};

} // namespace qs
