// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/base/work/cancel.h"
#include "core/layout/geometry.h"
#include "core/layout/layout_options.h"

namespace qs {

/// Size from an estimate of the text's width (12 px bold title, room for a number at the right).
LayoutSize estimatedBoxSize(const DisplayBox& box);

/// Layered layout from top to bottom. The graph is cut at the boxes that every path passes, the pieces are laid out
/// one by one; linear in the number of pieces, equal for equal input. Safe from any thread (one at a time inside).
/// The only Issue is cancellation, noticed between pieces.
Result<GraphLayout> layoutGraph(const FoldedGraph& graph, const LayoutOptions& options, const CancelToken& cancel);

} // namespace qs
