// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/layout/graph_layout.h"

#include "core/base/text/utf8.h"
#include "core/base/work/long_work.h"
#include "core/layout/badges.h"
#include "core/layout/flat_layout.h"

#include <algorithm>

namespace qs {

LayoutSize estimatedBoxSize(const DisplayBox& box)
{
    const double text = std::max(7.4 * double(characterCount(box.title)), 6.4 * double(characterCount(box.subtitle)));
    if (box.kind == DisplayBox::Kind::Input || box.kind == DisplayBox::Kind::Output)
        return { std::clamp(
                     14 * 2 + 7.4 * double(characterCount(box.title) + characterCount(box.subtitle) + 2), 100.0, 420.0),
            26 };
    return { std::clamp(20 + text + 66, 178.0, 340.0), 40 };
}

Result<GraphLayout> layoutGraph(const FoldedGraph& graph, const LayoutOptions& options, const CancelToken& cancel)
{
    beginLongWork("layout");
    std::vector<LayoutSize> sizes;
    for (const DisplayBox& box : graph.boxes)
        sizes.push_back(options.boxSize ? options.boxSize(box) : estimatedBoxSize(box));
    KnownPieces known;
    QS_TRY(GraphLayout layout,
        graph.frames.empty() ? layoutFlat(graph, sizes, options, known, cancel)
                             : layoutNested(graph, sizes, options, cancel));
    placeBadges(graph, options.rankGap, layout);
    return layout;
}

} // namespace qs
