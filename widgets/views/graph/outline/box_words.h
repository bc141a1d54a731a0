// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/views/graph/view/graph_view.h"

#include <QString>

#include <span>
#include <vector>

namespace qs {

/// Which boxes a box reads from and feeds, each once, in the drawing's order.
class BoxNeighbours {
public:
    explicit BoxNeighbours(const FoldedGraph& graph);
    std::span<const uint32_t> reads(uint32_t box) const { return of(m_reads, box); }
    std::span<const uint32_t> feeds(uint32_t box) const { return of(m_feeds, box); }

private:
    struct Lists {
        std::vector<uint32_t> begins, boxes; ///< of box b: from begins[b] to begins[b + 1]
    };
    static Lists listsOf(std::vector<std::pair<uint32_t, uint32_t>> pairs, size_t boxes);
    static std::span<const uint32_t> of(const Lists& lists, uint32_t box)
    {
        return std::span(lists.boxes).subspan(lists.begins[box], lists.begins[box + 1] - lists.begins[box]);
    }
    Lists m_reads, m_feeds;
};

/// What a box is called: its node's name, of inputs and outputs the tensor's, of groups their title.
QString boxName(const GraphContent& content, const DisplayBox& box);
/// "Conv", "model input", "group of 12".
QString boxKind(const GraphContent& content, const DisplayBox& box);
/// "conv_1, relu_1 and 3 more"; empty for none. `graph` is what the boxes are of.
QString boxNames(const GraphContent& content, const FoldedGraph& graph, std::span<const uint32_t> boxes);

} // namespace qs
