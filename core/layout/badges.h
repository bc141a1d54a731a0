// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/layout/folded_graph.h"
#include "core/layout/geometry.h"

#include <string>

namespace qs {

/// Size of a badge with this text.
LayoutSize badgeSize(const std::string& text);

/// Gives every group of edges with the same source and badge text one badge: below the source when all its edges carry
/// it, else on the group's first edge where it covers no box and no other badge.
void placeBadges(const FoldedGraph& graph, double rankGap, GraphLayout& layout);

/// Point of a path, t in 0..1 over its Bezier pieces.
LayoutPoint pointOnPath(const EdgePath& path, double t);

} // namespace qs
