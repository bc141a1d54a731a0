// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/layout/groups/grouping.h"

#include <algorithm>
#include <set>
#include <span>
#include <tuple>

namespace qs {

namespace {

class Joining {
public:
    Joining(const FoldedGraph& whole, const Grouping& grouping, const IsClosed& closed)
        : m_whole(whole)
        , m_grouping(grouping)
        , m_drawn(whole.boxes.size())
        , m_frameOfGroup(grouping.groups.size(), FoldedGraph::kNoBox)
    {
        m_closed.reserve(grouping.groups.size());
        for (uint32_t g = 0; g < grouping.groups.size(); ++g) // outer ones first
            m_closed.push_back(insideClosed(g) || closed(g));
    }

    FoldedGraph run() &&
    {
        for (const uint32_t box : m_grouping.order)
            addBox(box);
        for (const std::vector<uint32_t>& edges : edgesByReader())
            for (const uint32_t e : edges)
                addEdge(m_whole.edges[e]);
        m_result.boxOfNode = mapped(m_whole.boxOfNode);
        m_result.boxOfValue = mapped(m_whole.boxOfValue);
        return std::move(m_result);
    }

private:
    bool insideClosed(uint32_t group) const
    {
        const uint32_t parent = m_grouping.groups[group].parent;
        return parent != BoxGroup::kNone && m_closed[parent];
    }

    /// The outermost closed group around a box.
    uint32_t closedAround(uint32_t box) const
    {
        uint32_t found = BoxGroup::kNone;
        for (uint32_t g = m_grouping.innermost[box]; g != BoxGroup::kNone; g = m_grouping.groups[g].parent)
            if (m_closed[g])
                found = g;
        return found;
    }

    uint32_t frameOf(uint32_t group)
    {
        if (group == BoxGroup::kNone)
            return FoldedGraph::kNoBox;
        if (m_frameOfGroup[group] == FoldedGraph::kNoBox) {
            const uint32_t parent = frameOf(m_grouping.groups[group].parent);
            m_frameOfGroup[group] = static_cast<uint32_t>(m_result.frames.size());
            m_result.frames.push_back({ group, m_grouping.groups[group].title, parent });
        }
        return m_frameOfGroup[group];
    }

    void addBox(uint32_t box)
    {
        const uint32_t group = closedAround(box);
        if (group == BoxGroup::kNone) {
            DisplayBox copy = m_whole.boxes[box];
            copy.members = { box };
            append(std::move(copy), frameOf(m_grouping.innermost[box]));
        } else {
            if (group != m_lastGroup)
                append(joined(group), frameOf(m_grouping.groups[group].parent));
            addMember(box);
        }
        m_lastGroup = group;
        m_drawn[box] = static_cast<uint32_t>(m_result.boxes.size() - 1);
    }

    void append(DisplayBox box, uint32_t frame)
    {
        m_result.boxes.push_back(std::move(box));
        m_result.frameOfBox.push_back(frame);
    }

    DisplayBox joined(uint32_t group) const
    {
        const BoxGroup& of = m_grouping.groups[group];
        DisplayBox box;
        box.kind = DisplayBox::Kind::Group;
        box.group = group;
        box.title = of.title;
        const auto members = std::span(m_grouping.order).subspan(of.first, of.end - of.first);
        const size_t count = nodesAmong(m_whole, members);
        const bool run = of.kind == BoxGroup::Kind::Run;
        const size_t nodes = run ? count / of.blocks : count;
        box.subtitle = std::to_string(nodes) + (nodes == 1 ? " node" : " nodes") + (run ? " each" : "");
        return box;
    }

    void addMember(uint32_t member)
    {
        DisplayBox& box = m_result.boxes.back();
        const DisplayBox& from = m_whole.boxes[member];
        box.members.push_back(member);
        box.nodes.insert(box.nodes.end(), from.nodes.begin(), from.nodes.end());
        box.values.insert(box.values.end(), from.values.begin(), from.values.end());
        box.weights.insert(box.weights.end(), from.weights.begin(), from.weights.end());
    }

    std::vector<std::vector<uint32_t>> edgesByReader() const
    {
        std::vector<std::vector<uint32_t>> edges(m_result.boxes.size());
        for (uint32_t e = 0; e < m_whole.edges.size(); ++e)
            edges[m_drawn[m_whole.edges[e].to]].push_back(e);
        return edges;
    }

    /// Once for each value that a box reads from another.
    void addEdge(DisplayEdge edge)
    {
        const bool grouped = m_result.boxes[m_drawn[edge.to]].kind == DisplayBox::Kind::Group;
        edge.from = m_drawn[edge.from];
        edge.to = m_drawn[edge.to];
        if (edge.from != edge.to && (!grouped || m_known.insert({ edge.from, edge.to, edge.value }).second))
            m_result.edges.push_back(std::move(edge));
    }

    std::vector<uint32_t> mapped(std::vector<uint32_t> boxes) const
    {
        for (uint32_t& box : boxes)
            if (box != FoldedGraph::kNoBox)
                box = m_drawn[box];
        return boxes;
    }

    const FoldedGraph& m_whole;
    const Grouping& m_grouping;
    std::vector<bool> m_closed;
    std::vector<uint32_t> m_drawn; ///< box of the result, by box of the whole
    std::vector<uint32_t> m_frameOfGroup;
    std::set<std::tuple<uint32_t, uint32_t, ValueId>> m_known;
    uint32_t m_lastGroup = BoxGroup::kNone;
    FoldedGraph m_result;
};

} // namespace

FoldedGraph joinGroups(const FoldedGraph& whole, const Grouping& grouping, const IsClosed& closed)
{
    return Joining(whole, grouping, closed).run();
}

} // namespace qs
