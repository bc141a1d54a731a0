// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/sensitivity/unit_blocks.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

namespace qs {

namespace {

using UnitList = std::vector<size_t>;

constexpr size_t kLongestBlock = 6; ///< units: a block of a plain network

class BlockList {
public:
    explicit BlockList(size_t units)
        : m_units(units)
    {
    }
    void add(UnitList members)
    {
        std::ranges::sort(members);
        if (members.size() > 1 && members.size() < m_units && m_known.insert(members).second)
            m_blocks.push_back({ std::move(members) });
    }
    std::vector<UnitBlock> take() { return std::move(m_blocks); }

private:
    size_t m_units;
    std::set<UnitList> m_known;
    std::vector<UnitBlock> m_blocks;
};

void addScopes(BlockList& blocks, std::span<const QuantizedUnit> units)
{
    std::map<std::string, UnitList> members;
    for (size_t u = 0; u < units.size(); ++u)
        for (size_t slash = units[u].name.find('/', 1); slash != std::string::npos;
             slash = units[u].name.find('/', slash + 1))
            members[units[u].name.substr(0, slash)].push_back(u);
    for (auto& [scope, list] : members)
        blocks.add(std::move(list));
}

/// Units by the nodes of the graph; nothing for other nodes.
std::vector<std::optional<size_t>> unitsOf(const Graph& graph, std::span<const QuantizedUnit> units)
{
    std::unordered_map<std::string, size_t> byName;
    for (size_t u = 0; u < units.size(); ++u)
        byName.emplace(units[u].name, u);
    std::vector<std::optional<size_t>> found;
    for (const Node& node : graph.nodes()) {
        const bool unnamed = node.name.empty() && node.hasOutput(0);
        const auto it = byName.find(unnamed ? graph.value(node.outputs[0]).name : node.name);
        found.push_back(it == byName.end() ? std::nullopt : std::optional(it->second));
    }
    return found;
}

/// By node: whether behind it, in order, only a single value is still to be read.
std::vector<bool> passedByAll(const Graph& graph)
{
    std::vector<size_t> reads(graph.values().size(), 0);
    size_t alive = 0;
    const auto begin = [&](ValueId id) {
        reads[id.index()] = graph.value(id).uses.size() + size_t(std::ranges::count(graph.outputs(), id));
        alive += reads[id.index()] > 0;
    };
    for (const ValueId in : graph.inputs())
        begin(in);
    std::vector<bool> cuts;
    for (const Node& node : graph.nodes()) {
        for (const ValueId in : node.inputs)
            if (in.valid() && reads[in.index()] > 0)
                alive -= --reads[in.index()] == 0;
        const bool constant = std::ranges::all_of(
            node.inputs, [&](ValueId in) { return !in.valid() || graph.value(in).initializer.has_value(); });
        for (const ValueId out : node.outputs)
            if (out.valid() && !constant)
                begin(out);
        cuts.push_back(alive == 1);
    }
    return cuts;
}

/// A stretch with a single unit goes into a chain with its neighbours.
void addStretches(BlockList& blocks, const GraphDraft& prepared, std::span<const QuantizedUnit> units)
{
    const auto built = prepared.build();
    if (!built)
        return;
    const Graph& graph = (*built)->graph;
    const auto unitOf = unitsOf(graph, units);
    const auto cuts = passedByAll(graph);
    UnitList stretch, chain;
    for (size_t n = 0; n < unitOf.size(); ++n) {
        if (unitOf[n])
            stretch.push_back(*unitOf[n]);
        if (!cuts[n] && n + 1 < unitOf.size())
            continue;
        if (stretch.size() > 1) {
            blocks.add(std::exchange(chain, {}));
            blocks.add(stretch);
        } else {
            chain.insert(chain.end(), stretch.begin(), stretch.end());
            if (chain.size() == kLongestBlock)
                blocks.add(std::exchange(chain, {}));
        }
        stretch.clear();
    }
    blocks.add(std::move(chain));
}

} // namespace

std::vector<UnitBlock> unitBlocks(const GraphDraft& prepared, UnitKind kind, std::span<const QuantizedUnit> units)
{
    BlockList blocks(units.size());
    if (kind == UnitKind::Node) {
        addScopes(blocks, units);
        addStretches(blocks, prepared, units);
    }
    return blocks.take();
}

} // namespace qs
