// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/layout/groups/name_scopes.h"

#include "core/graph/origin/module_path.h"

#include <algorithm>
#include <map>
#include <set>

namespace qs {

namespace {

/// Takes boxes in topological order, next to the last one if possible.
class ScopedOrder {
public:
    ScopedOrder(const FoldedGraph& folded, const ScopeTree& tree)
        : m_tree(tree)
        , m_waiting(folded.boxes.size())
        , m_readers(folded.boxes.size())
        , m_ready(tree.scopes.size())
    {
        for (const DisplayEdge& edge : folded.edges) {
            ++m_waiting[edge.to];
            m_readers[edge.from].push_back(edge.to);
        }
        for (uint32_t b = 0; b < m_waiting.size(); ++b)
            if (m_waiting[b] == 0)
                change(b, true);
    }

    std::vector<uint32_t> run()
    {
        std::vector<uint32_t> order;
        for (uint32_t scope = 0; !m_ready[0].empty();) {
            while (m_ready[scope].empty())
                scope = m_tree.scopes[scope].parent;
            const uint32_t box = *m_ready[scope].begin();
            order.push_back(box);
            change(box, false);
            for (const uint32_t reader : m_readers[box])
                if (--m_waiting[reader] == 0)
                    change(reader, true);
            scope = m_tree.ofBox[box];
        }
        return order;
    }

private:
    /// Notes the box in its scope and all around it, or removes it there.
    void change(uint32_t box, bool ready)
    {
        for (uint32_t scope = m_tree.ofBox[box];; scope = m_tree.scopes[scope].parent) {
            if (ready)
                m_ready[scope].insert(box);
            else
                m_ready[scope].erase(box);
            if (scope == 0)
                return;
        }
    }

    const ScopeTree& m_tree;
    std::vector<uint32_t> m_waiting;
    std::vector<std::vector<uint32_t>> m_readers;
    std::vector<std::set<uint32_t>> m_ready; ///< by scope: what can come next within it
};

} // namespace

uint32_t ScopeTree::common(uint32_t a, uint32_t b) const
{
    while (a != b) {
        if (scopes[a].depth >= scopes[b].depth)
            a = scopes[a].parent;
        else
            b = scopes[b].parent;
    }
    return a;
}

std::string ScopeTree::path(uint32_t scope) const
{
    if (scope == 0)
        return {};
    const std::string outer = path(scopes[scope].parent);
    return outer.empty() ? scopes[scope].name : outer + "/" + scopes[scope].name;
}

ScopeTree scopeTree(const Graph& graph, const FoldedGraph& folded)
{
    ScopeTree tree;
    std::map<std::pair<uint32_t, std::string>, uint32_t> known;
    for (const DisplayBox& box : folded.boxes) {
        uint32_t at = 0;
        if (box.mainNode().valid()) {
            for (std::string& name : moduleScopes(graph.node(box.mainNode()))) {
                const auto [entry, isNew]
                    = known.try_emplace({ at, std::move(name) }, static_cast<uint32_t>(tree.scopes.size()));
                if (isNew)
                    tree.scopes.push_back({ entry->first.second, at, tree.scopes[at].depth + 1 });
                at = entry->second;
            }
        }
        tree.ofBox.push_back(at);
    }
    return tree;
}

std::vector<uint32_t> orderByScopes(const FoldedGraph& folded, const ScopeTree& tree)
{
    return ScopedOrder(folded, tree).run();
}

} // namespace qs
