// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/layout/groups/group_states.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace qs {

namespace {

class States {
public:
    States(const FoldedGraph& folded, Grouping& grouping)
        : m_folded(folded)
        , m_grouping(grouping)
        , m_blocks(folded.boxes.size())
        , m_neighbour(folded.boxes.size(), UINT32_MAX)
        , m_places(folded.boxes.size())
        , m_inputs(grouping.groups.size())
        , m_outputs(grouping.groups.size())
    {
    }

    void take()
    {
        if (!groupsNest())
            return;
        for (uint32_t i = 0; i < m_grouping.order.size(); ++i)
            m_places[m_grouping.order[i]] = i;
        for (const DisplayEdge& edge : m_folded.edges) {
            if (isState(edge.from, DisplayBox::Kind::Input))
                narrow(edge.from, edge.to);
            if (isState(edge.to, DisplayBox::Kind::Output))
                narrow(edge.to, edge.from);
        }
        choose();
        dropUneven();
        reorder();
    }

private:
    bool isState(uint32_t box, DisplayBox::Kind kind) const
    {
        return m_folded.boxes[box].kind == kind && m_grouping.innermost[box] == BoxGroup::kNone;
    }

    bool groupsNest() const
    {
        return std::ranges::all_of(m_grouping.groups, [&](const BoxGroup& g) {
            const BoxGroup* parent = g.parent == BoxGroup::kNone ? nullptr : &m_grouping.groups[g.parent];
            return g.first < g.end && (!parent || (parent->first <= g.first && g.end <= parent->end));
        });
    }

    /// Keeps of the blocks around all neighbours of a box so far those around this one, too; innermost first.
    void narrow(uint32_t box, uint32_t neighbour)
    {
        std::vector<uint32_t> around = m_grouping.around(neighbour);
        std::erase_if(around, [&](uint32_t g) { return m_grouping.groups[g].kind != BoxGroup::Kind::Block; });
        if (m_neighbour[box] != UINT32_MAX)
            std::erase_if(m_blocks[box], [&](uint32_t g) { return std::ranges::find(around, g) == around.end(); });
        else
            m_blocks[box] = std::move(around);
        m_neighbour[box] = std::min(m_neighbour[box], m_places[neighbour]);
    }

    /// The outermost block, if it reads and makes some: of equal blocks all grow alike.
    void choose()
    {
        std::vector<bool> reads(m_grouping.groups.size()), makes(reads);
        for (uint32_t b = 0; b < m_blocks.size(); ++b)
            for (const uint32_t g : m_blocks[b])
                (m_folded.boxes[b].kind == DisplayBox::Kind::Input ? reads : makes)[g] = true;
        for (const uint32_t b : m_grouping.order) {
            const uint32_t outermost = m_blocks[b].empty() ? BoxGroup::kNone : m_blocks[b].back();
            if (outermost != BoxGroup::kNone && reads[outermost] && makes[outermost])
                (m_folded.boxes[b].kind == DisplayBox::Kind::Input ? m_inputs : m_outputs)[outermost].push_back(b);
        }
    }

    /// Of the blocks of a run only what all of them have at the same place stays.
    void dropUneven()
    {
        std::map<uint32_t, std::vector<uint32_t>> blocksOfRun;
        for (uint32_t g = 0; g < m_grouping.groups.size(); ++g) {
            const uint32_t parent = m_grouping.groups[g].parent;
            if (m_grouping.groups[g].kind == BoxGroup::Kind::Block && parent != BoxGroup::kNone
                && m_grouping.groups[parent].kind == BoxGroup::Kind::Run)
                blocksOfRun[parent].push_back(g);
        }
        for (const auto& [run, blocks] : blocksOfRun)
            for (auto* lists : { &m_inputs, &m_outputs })
                keepCommon(blocks, *lists);
        for (uint32_t g = 0; g < m_inputs.size(); ++g)
            if (m_inputs[g].empty() || m_outputs[g].empty()) {
                m_inputs[g].clear();
                m_outputs[g].clear();
            }
    }

    void keepCommon(const std::vector<uint32_t>& blocks, std::vector<std::vector<uint32_t>>& lists) const
    {
        const auto placeIn = [&](uint32_t g, uint32_t box) { return m_neighbour[box] - m_grouping.groups[g].first; };
        std::map<uint32_t, std::vector<size_t>> counts; // by place in the block, by block
        for (size_t b = 0; b < blocks.size(); ++b)
            for (const uint32_t box : lists[blocks[b]]) {
                auto& own = counts[placeIn(blocks[b], box)];
                own.resize(blocks.size());
                ++own[b];
            }
        std::erase_if(counts, [](const auto& entry) {
            return std::ranges::any_of(entry.second, [&](size_t n) { return n != entry.second.front(); });
        });
        for (const uint32_t g : blocks)
            std::erase_if(lists[g], [&](uint32_t box) { return !counts.contains(placeIn(g, box)); });
    }

    void reorder()
    {
        std::vector<bool> moved(m_folded.boxes.size());
        for (const auto* lists : { &m_inputs, &m_outputs })
            for (uint32_t g = 0; g < lists->size(); ++g)
                for (const uint32_t b : (*lists)[g]) {
                    moved[b] = true;
                    m_grouping.innermost[b] = g;
                }
        std::vector<uint32_t> order, open;
        std::vector<std::pair<uint32_t, uint32_t>> spans(m_grouping.groups.size());
        const auto place = [&order] { return static_cast<uint32_t>(order.size()); };
        uint32_t next = 0;
        for (uint32_t i = 0; i < m_grouping.order.size(); ++i) {
            for (; next < m_grouping.groups.size() && m_grouping.groups[next].first == i; ++next) {
                spans[next].first = place();
                order.insert(order.end(), m_inputs[next].begin(), m_inputs[next].end());
                open.push_back(next);
            }
            if (!moved[m_grouping.order[i]])
                order.push_back(m_grouping.order[i]);
            for (; !open.empty() && m_grouping.groups[open.back()].end == i + 1; open.pop_back()) {
                order.insert(order.end(), m_outputs[open.back()].begin(), m_outputs[open.back()].end());
                spans[open.back()].second = place();
            }
        }
        for (size_t g = 0; g < spans.size(); ++g)
            std::tie(m_grouping.groups[g].first, m_grouping.groups[g].end) = spans[g];
        m_grouping.order = std::move(order);
    }

    const FoldedGraph& m_folded;
    Grouping& m_grouping;
    std::vector<std::vector<uint32_t>>
        m_blocks; ///< by input and output: blocks around all that reads or makes it, innermost first
    std::vector<uint32_t> m_neighbour; ///< by box: the first place that reads or makes it
    std::vector<uint32_t> m_places; ///< by box
    std::vector<std::vector<uint32_t>> m_inputs, m_outputs; ///< by group: what it takes
};

} // namespace

void takeStates(const FoldedGraph& folded, Grouping& grouping) { States(folded, grouping).take(); }

} // namespace qs
