// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/layout/groups/grouping.h"

#include "core/layout/groups/box_row.h"
#include "core/layout/groups/group_states.h"
#include "core/layout/groups/numbered_blocks.h"

#include <algorithm>
#include <map>
#include <set>

namespace qs {

namespace {

constexpr uint32_t kLeastScopeBoxes = 3;
constexpr size_t kTypesInTitle = 3;

/// Whether these places are of a run, though not of one block of it.
bool joinsBlocks(const std::vector<BoxGroup>& groups, uint32_t first, uint32_t end)
{
    return std::ranges::any_of(groups, [&](const BoxGroup& g) {
        if (g.kind != BoxGroup::Kind::Run || first < g.first || g.end < end)
            return false;
        const uint32_t period = (g.end - g.first) / g.blocks;
        return (first - g.first) / period != (end - 1 - g.first) / period;
    });
}

/// Finds all groups of a drawing, then which lies in which.
class Groups {
public:
    Groups(const Graph& graph, const FoldedGraph& folded, const DimsLookup& dims, const std::vector<DrawnBody>& bodies)
        : m_graph(graph)
        , m_folded(folded)
        , m_dims(dims)
        , m_tree(scopeTree(graph, folded))
    {
        m_result.order = bodies.empty() ? orderByScopes(folded, m_tree) : orderWithBodies(bodies);
        if (!bodies.empty())
            addBodyGroups(bodies);
    }

    Grouping run(GroupBy by) &&
    {
        if (by != GroupBy::Nothing)
            addRuns();
        if (by == GroupBy::Names)
            addScopes();
        nest();
        return std::move(m_result);
    }

private:
    /// What a body reads from outside comes before its node.
    std::vector<uint32_t> orderWithBodies(const std::vector<DrawnBody>& bodies) const
    {
        const std::vector<uint32_t> owners = outermostOwners(m_folded.boxes.size(), bodies);
        FoldedGraph outside = m_folded;
        for (DisplayEdge& edge : outside.edges) {
            edge.from = owners[edge.from];
            edge.to = owners[edge.to];
        }
        std::erase_if(outside.edges, [](const DisplayEdge& edge) { return edge.from == edge.to; });
        return orderByScopes(outside, m_tree);
    }

    /// Boxes of bodies go behind their node's box, which nothing else they read comes after.
    void placeBodies(uint32_t box, const std::vector<std::vector<uint32_t>>& bodiesOf,
        const std::vector<DrawnBody>& bodies, std::vector<uint32_t>& order)
    {
        const auto place = [&order] { return static_cast<uint32_t>(order.size()); };
        const uint32_t owner = place();
        order.push_back(box);
        for (const uint32_t b : bodiesOf[box]) {
            const uint32_t first = place();
            for (uint32_t inner = bodies[b].first; inner < bodies[b].end; ++inner)
                placeBodies(inner, bodiesOf, bodies, order);
            const std::string key = "body:" + std::to_string(b) + bodies[b].name;
            if (bodiesOf[box].size() > 1 && first < place())
                add({ BoxGroup::Kind::Body, key, bodies[b].name, first, place(), 0, BoxGroup::kNone });
        }
        if (!bodiesOf[box].empty())
            add({ BoxGroup::Kind::Body, "bodies:" + std::to_string(bodiesOf[box].front()), m_folded.boxes[box].title,
                owner, place(), 0, BoxGroup::kNone });
    }

    void addBodyGroups(const std::vector<DrawnBody>& bodies)
    {
        std::vector<std::vector<uint32_t>> bodiesOf(m_folded.boxes.size());
        std::vector<bool> inBody(m_folded.boxes.size());
        for (uint32_t b = 0; b < bodies.size(); ++b) {
            bodiesOf[bodies[b].owner].push_back(b);
            std::fill(m_tree.ofBox.begin() + bodies[b].first, m_tree.ofBox.begin() + bodies[b].end,
                m_tree.ofBox[bodies[b].owner]);
            std::fill(inBody.begin() + bodies[b].first, inBody.begin() + bodies[b].end, true);
        }
        std::vector<uint32_t> order;
        for (const uint32_t box : m_result.order)
            if (!inBody[box])
                placeBodies(box, bodiesOf, bodies, order);
        m_result.order = std::move(order);
        m_blocks = m_result.groups.size();
    }

    uint32_t scopeAt(uint32_t place) const { return m_tree.ofBox[m_result.order[place]]; }

    uint32_t scopeOf(uint32_t first, uint32_t end) const { return scopeAround(m_tree, m_result.order, first, end); }

    /// "layer/3", "3" within `outer`.
    std::string pathWithin(uint32_t scope, uint32_t outer) const
    {
        std::string path;
        for (; scope != outer && scope != 0; scope = m_tree.scopes[scope].parent)
            path = m_tree.scopes[scope].name + (path.empty() ? "" : "/") + path;
        return path;
    }

    std::string nodeAt(uint32_t place) const
    {
        const DisplayBox& box = m_folded.boxes[m_result.order[place]];
        return box.mainNode().valid() ? m_graph.node(box.mainNode()).name : innerName(m_graph, box.inner);
    }

    /// "MatMul, Add, Relu …"
    std::string typesOf(uint32_t first, uint32_t end) const
    {
        std::vector<std::string> types;
        for (uint32_t i = first; i < end; ++i) {
            const Node* node = operatorOf(m_graph, m_folded.boxes[m_result.order[i]]);
            if (node && std::ranges::find(types, node->opType) == types.end())
                types.push_back(node->opType);
        }
        std::string text;
        for (size_t t = 0; t < std::min(types.size(), kTypesInTitle); ++t)
            text += (t ? ", " : "") + types[t];
        return types.size() > kTypesInTitle ? text + " …" : text;
    }

    void addRuns()
    {
        const std::vector<BlockRun> runs = findNestedRuns(boxRow(m_graph, m_folded, m_dims, m_tree, m_result.order));
        for (const BlockRun& run : runs) {
            if (cutsBodies(run))
                continue;
            const std::string times = std::to_string(run.count) + " × ";
            const uint32_t scope = scopeOf(run.first, run.end());
            const std::string name = scope ? m_tree.scopes[scope].name : typesOf(run.first, run.first + run.period);
            add({ BoxGroup::Kind::Run, keyOf("run:", run.first), times + name, run.first, run.end(), run.count,
                BoxGroup::kNone });
            for (uint32_t b = 0; b < run.count; ++b) {
                const uint32_t first = run.first + b * run.period;
                const uint32_t inner = scopeOf(first, first + run.period);
                const std::string number = pathWithin(inner, scope);
                const std::string title = number.empty() ? "block " + std::to_string(b + 1)
                    : scope                              ? m_tree.scopes[scope].name + "/" + number
                                                         : number;
                add({ BoxGroup::Kind::Block, keyOf("block:", first), title, first, first + run.period, 0,
                    BoxGroup::kNone });
            }
        }
        m_blocks = m_result.groups.size();
        for (const BlockRun& run : runs)
            addUnequal(run);
    }

    /// The boxes of a body stay together.
    bool cutsBodies(const BlockRun& run) const
    {
        for (uint32_t first = run.first; first < run.end(); first += run.period)
            if (cutsBlock(first, first + run.period))
                return true;
        return cutsBlock(run.first, run.end());
    }

    void addUnequal(const BlockRun& run)
    {
        for (const NumberedBlock& b : numberedBlocks(m_tree, m_result.order, run)) {
            if (m_spans.contains({ b.first, b.end }) || cutsBlock(b.first, b.end)
                || joinsBlocks(m_result.groups, b.first, b.end))
                continue;
            const ScopeTree::Scope& own = m_tree.scopes[b.scope];
            add({ BoxGroup::Kind::Block, keyOf("block:", b.first), m_tree.scopes[own.parent].name + "/" + own.name,
                b.first, b.end, 0, BoxGroup::kNone });
            m_blocks = m_result.groups.size();
        }
    }

    /// By the first node; inner ones that begin with the same one are counted.
    std::string keyOf(const std::string& kind, uint32_t first)
    {
        const std::string key = kind + nodeAt(first);
        const uint32_t again = m_keys[key]++;
        return again > 0 ? key + "#" + std::to_string(again) : key;
    }

    void add(BoxGroup group)
    {
        m_spans.insert({ group.first, group.end });
        m_result.groups.push_back(std::move(group));
    }

    /// Stretches of boxes that lie in a scope; those that a block cuts are left out.
    void addScopes()
    {
        const auto n = static_cast<uint32_t>(m_result.order.size());
        std::vector<std::pair<uint32_t, uint32_t>> open; // scope, first place
        std::map<std::string, uint32_t> seen;
        for (uint32_t i = 0; i <= n; ++i) {
            const uint32_t now = i < n ? scopeAt(i) : 0;
            const uint32_t kept = open.empty() ? 0 : m_tree.scopes[m_tree.common(open.back().first, now)].depth;
            for (; open.size() > kept; open.pop_back())
                addScope(open.back().first, open.back().second, i, seen);
            std::vector<uint32_t> path;
            for (uint32_t s = now; m_tree.scopes[s].depth > kept; s = m_tree.scopes[s].parent)
                path.push_back(s);
            for (auto s = path.rbegin(); s != path.rend(); ++s)
                open.emplace_back(*s, i);
        }
    }

    void addScope(uint32_t scope, uint32_t first, uint32_t end, std::map<std::string, uint32_t>& seen)
    {
        if (end - first < kLeastScopeBoxes || m_spans.contains({ first, end }) || cutsBlock(first, end))
            return;
        const std::string path = m_tree.path(scope);
        const uint32_t again = ++seen[path];
        const std::string suffix = again > 1 ? " (" + std::to_string(again) + ")" : "";
        add({ BoxGroup::Kind::Scope, "scope:" + path + suffix, path + suffix, first, end, 0, BoxGroup::kNone });
    }

    bool cutsBlock(uint32_t first, uint32_t end) const
    {
        const auto blocks = std::span(m_result.groups).first(m_blocks);
        return std::ranges::any_of(blocks, [&](const BoxGroup& g) {
            const bool apart = end <= g.first || g.end <= first;
            return !apart && !(first <= g.first && g.end <= end) && !(g.first <= first && end <= g.end);
        });
    }

    /// Outer groups first; each under the last one that is still open.
    void nest()
    {
        auto& groups = m_result.groups;
        const auto depth = [](BoxGroup::Kind kind) { // of two around the same boxes: blocks may be a run of blocks
            return kind == BoxGroup::Kind::Scope ? 0 : kind == BoxGroup::Kind::Block ? 1 : 2;
        };
        std::ranges::stable_sort(
            groups, {}, [&](const BoxGroup& g) { return std::tuple(g.first, UINT32_MAX - g.end, depth(g.kind)); });
        m_result.innermost.assign(m_result.order.size(), BoxGroup::kNone);
        std::vector<uint32_t> open;
        uint32_t next = 0;
        for (uint32_t i = 0; i < m_result.order.size(); ++i) {
            while (!open.empty() && groups[open.back()].end <= i)
                open.pop_back();
            for (; next < groups.size() && groups[next].first == i; ++next) {
                groups[next].parent = open.empty() ? BoxGroup::kNone : open.back();
                open.push_back(next);
            }
            if (!open.empty())
                m_result.innermost[m_result.order[i]] = open.back();
        }
    }

    const Graph& m_graph;
    const FoldedGraph& m_folded;
    const DimsLookup& m_dims;
    ScopeTree m_tree;
    Grouping m_result;
    size_t m_blocks = 0; ///< groups that are runs and blocks
    std::set<std::pair<uint32_t, uint32_t>> m_spans;
    std::map<std::string, uint32_t> m_keys; ///< of runs and blocks: how many there are
};

} // namespace

Grouping groupBoxes(const Graph& graph, const FoldedGraph& folded, const DimsLookup& dims, GroupBy by,
    const std::vector<DrawnBody>& bodies)
{
    Grouping grouping = Groups(graph, folded, dims, bodies).run(by);
    takeStates(folded, grouping);
    return grouping;
}

} // namespace qs
