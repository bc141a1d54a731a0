// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/layout/folded_graph.h"
#include "core/layout/geometry.h"

#include <functional>

namespace qs {

enum class LayoutDirection { TopDown };

using BoxSize = std::function<LayoutSize(const DisplayBox&)>;

struct LayoutOptions {
    LayoutDirection direction = LayoutDirection::TopDown;
    BoxSize boxSize; ///< null: estimatedBoxSize
    size_t largestPiece = 500; ///< boxes; more than that are put on a plain grid of layers
    double rankGap = 30; ///< between layers; room for a badge
    double boxGap = 28; ///< between boxes of a layer
    double margin = 24;
    LayoutSize frameTitle { 120, 26 }; ///< least width of a frame, and what its title takes of its height
};

} // namespace qs
