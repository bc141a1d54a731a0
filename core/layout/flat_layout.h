// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/base/work/cancel.h"
#include "core/layout/piece_layout.h"

#include <map>
#include <vector>

namespace qs {

/// Pieces that were laid out, by what their layout depends on: equal blocks of a network are laid out once.
class KnownPieces {
public:
    PieceLayout layout(const PieceInput& input);

private:
    std::map<std::vector<double>, PieceLayout> m_known;
};

/// A layout without frames and badges: boxes of these sizes, piece below piece, `options.margin` around them. The only
/// Issue is cancellation, noticed between pieces.
Result<GraphLayout> layoutFlat(const FoldedGraph& graph, const std::vector<LayoutSize>& sizes,
    const LayoutOptions& options, KnownPieces& known, const CancelToken& cancel);

/// The layout of a graph with frames: each frame by itself, inner ones first, as a box of the level around it. What
/// passes a frame goes through one point at its top or bottom, so frames never overlap anything.
Result<GraphLayout> layoutNested(const FoldedGraph& graph, const std::vector<LayoutSize>& sizes,
    const LayoutOptions& options, const CancelToken& cancel);

} // namespace qs
