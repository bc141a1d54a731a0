// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/graph/outline/box_words.h"

#include "widgets/models/base/formatting.h"
#include "widgets/models/base/translated.h"

#include <QStringList>

#include <algorithm>

namespace qs {

namespace {

constexpr size_t kMostNamed = 3; ///< neighbours that are named before the rest is counted

bool isNode(const DisplayBox& box) { return box.kind == DisplayBox::Kind::Operator && box.mainNode().valid(); }

} // namespace

BoxNeighbours::BoxNeighbours(const FoldedGraph& graph)
{
    std::vector<std::pair<uint32_t, uint32_t>> reads, feeds;
    for (const DisplayEdge& edge : graph.edges) {
        reads.emplace_back(edge.to, edge.from);
        feeds.emplace_back(edge.from, edge.to);
    }
    m_reads = listsOf(std::move(reads), graph.boxes.size());
    m_feeds = listsOf(std::move(feeds), graph.boxes.size());
}

BoxNeighbours::Lists BoxNeighbours::listsOf(std::vector<std::pair<uint32_t, uint32_t>> pairs, size_t boxes)
{
    std::ranges::sort(pairs);
    pairs.erase(std::ranges::unique(pairs).begin(), pairs.end());
    Lists lists;
    lists.begins.reserve(boxes + 1);
    lists.boxes.reserve(pairs.size());
    size_t at = 0;
    for (uint32_t box = 0; box <= boxes; ++box) {
        lists.begins.push_back(uint32_t(at));
        for (; at < pairs.size() && pairs[at].first == box; ++at)
            lists.boxes.push_back(pairs[at].second);
    }
    return lists;
}

QString boxName(const GraphContent& content, const DisplayBox& box)
{
    if (box.kind == DisplayBox::Kind::Group)
        return toQt(box.title);
    const Graph& graph = content.model->graph;
    const std::string& name = isNode(box) ? graph.node(box.mainNode()).name
        : box.mainValue().valid()         ? graph.value(box.mainValue()).name
                                          : box.title;
    return toQt(name.empty() ? box.title : name);
}

QString boxKind(const GraphContent& content, const DisplayBox& box)
{
    switch (box.kind) {
    case DisplayBox::Kind::Input:
        return tr("model input");
    case DisplayBox::Kind::Output:
        return tr("model output");
    case DisplayBox::Kind::Group:
        return tr("group of %1").arg(nodesAmong(content.whole, box.members));
    case DisplayBox::Kind::Operator:
        break;
    }
    return isNode(box) ? toQt(content.model->graph.node(box.mainNode()).opType) : tr("in the body of a node");
}

QString boxNames(const GraphContent& content, const FoldedGraph& graph, std::span<const uint32_t> boxes)
{
    const size_t named = boxes.size() <= kMostNamed + 1 ? boxes.size() : kMostNamed;
    QStringList names;
    for (const uint32_t box : boxes.first(named))
        names << boxName(content, graph.boxes[box]);
    const QString list = names.join(QStringLiteral(", "));
    return named == boxes.size() ? list : tr("%1 and %2 more").arg(list).arg(boxes.size() - named);
}

} // namespace qs
