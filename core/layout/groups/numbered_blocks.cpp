// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/layout/groups/numbered_blocks.h"

#include <algorithm>

namespace qs {

namespace {

/// The places of a row around one run.
class Beside {
public:
    Beside(const ScopeTree& tree, const std::vector<uint32_t>& order, const BlockRun& run)
        : m_tree(tree)
        , m_order(order)
        , m_run(run)
        , m_outer(scopeAround(tree, order, run.first, run.end()))
    {
    }

    std::vector<NumberedBlock> find() const
    {
        std::vector<NumberedBlock> found;
        if (m_outer == 0)
            return found;
        const auto n = static_cast<uint32_t>(m_order.size());
        if (m_run.first > 0 && countTogether(m_run.first - 1, m_run.first)) {
            NumberedBlock b { childAt(m_run.first - 1), m_run.first, m_run.first };
            while (b.first > 0 && childAt(b.first - 1) == b.scope)
                --b.first;
            found.push_back(b);
        }
        if (m_run.end() < n && countTogether(m_run.end() - 1, m_run.end())) {
            NumberedBlock b { childAt(m_run.end()), m_run.end(), m_run.end() };
            while (b.end < n && childAt(b.end) == b.scope)
                ++b.end;
            found.push_back(b);
        }
        std::erase_if(found, [&](const NumberedBlock& b) { return (b.end - b.first) * 2 < m_run.period; });
        return found;
    }

private:
    /// The scope right within the one around the run in which a place lies; 0 = not in it.
    uint32_t childAt(uint32_t place) const
    {
        uint32_t scope = m_tree.ofBox[m_order[place]];
        while (scope != 0 && m_tree.scopes[scope].parent != m_outer)
            scope = m_tree.scopes[scope].parent;
        return scope;
    }

    /// Neighbouring places lie in different ones of these scopes, whose names are numbers.
    bool countTogether(uint32_t place, uint32_t next) const
    {
        const auto isNumber = [&](uint32_t scope) {
            const std::string& name = m_tree.scopes[scope].name;
            return !name.empty() && std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; });
        };
        const uint32_t a = childAt(place), b = childAt(next);
        return a != 0 && b != 0 && a != b && isNumber(a) && isNumber(b);
    }

    const ScopeTree& m_tree;
    const std::vector<uint32_t>& m_order;
    const BlockRun& m_run;
    uint32_t m_outer;
};

} // namespace

uint32_t scopeAround(const ScopeTree& tree, const std::vector<uint32_t>& order, uint32_t first, uint32_t end)
{
    uint32_t scope = tree.ofBox[order[first]];
    for (uint32_t i = first + 1; i < end && scope != 0; ++i)
        scope = tree.common(scope, tree.ofBox[order[i]]);
    return scope;
}

std::vector<NumberedBlock> numberedBlocks(
    const ScopeTree& tree, const std::vector<uint32_t>& order, const BlockRun& run)
{
    return Beside(tree, order, run).find();
}

} // namespace qs
