// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/recipe/node_units.h"

#include "widgets/models/base/formatting.h"
#include "widgets/models/base/translated.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <unordered_map>

namespace qs {

namespace {

constexpr size_t kMostUnitsNamed = 3;

/// Who makes and who reads the values of a draft, by the numbers that recipeNodes() gives.
struct DraftLinks {
    std::unordered_map<std::string, size_t> producer;
    std::unordered_map<std::string, size_t> readers; ///< how many
};

/// What the quantized graph has of the float model's values.
class Counterparts {
public:
    explicit Counterparts(const Snapshot& snapshot)
    {
        if (!snapshot.alignment || !snapshot.floatModel || !snapshot.quantModel)
            return;
        m_graph = &snapshot.floatModel->graph();
        for (const ValuePair& pair : snapshot.alignment->values)
            m_pairs.try_emplace(pair.floatValue, pair.quantizer.has_value());
    }
    /// Whether it goes through a quantizer; nothing where it has no counterpart.
    std::optional<bool> quantized(const std::string& value) const
    {
        const ValueId id = m_graph ? m_graph->findValue(value) : ValueId();
        const auto pair = id.valid() ? m_pairs.find(id) : m_pairs.end();
        return pair == m_pairs.end() ? std::nullopt : std::optional(pair->second);
    }

private:
    const Graph* m_graph = nullptr;
    std::unordered_map<ValueId, bool> m_pairs;
};

} // namespace

NodeUnits::NodeUnits(const std::vector<size_t>& heads)
    : m_unitOf(heads.size())
{
    constexpr size_t kNone = SIZE_MAX;
    std::vector<size_t> unitOfHead(heads.size(), kNone);
    for (size_t n = 0; n < heads.size(); ++n) {
        size_t& unit = unitOfHead[heads[n]];
        if (unit == kNone) {
            unit = m_units.size();
            m_units.emplace_back();
        }
        m_units[unit].push_back(n);
        m_unitOf[n] = unit;
    }
}

std::vector<size_t> NodeUnits::whole(std::span<const size_t> nodes) const
{
    std::vector<size_t> all;
    for (const size_t node : nodes)
        all.insert(all.end(), of(node).begin(), of(node).end());
    std::ranges::sort(all);
    all.erase(std::ranges::unique(all).begin(), all.end());
    return all;
}

std::vector<ClipBehind> clipsBehind(const GraphDraft& draft, std::span<const RecipeNode> nodes)
{
    DraftLinks links;
    std::vector<std::pair<size_t, const DraftNode*>> clips;
    size_t n = 0;
    for (const DraftNode& node : draft.nodes) {
        for (const std::string& input : node.inputs)
            ++links.readers[input];
        if (n >= nodes.size() || node.name != nodes[n].name || node.opType != nodes[n].opType)
            continue; // a constant or a quantizer
        for (const std::string& output : node.outputs)
            links.producer.try_emplace(output, n);
        if ((node.is("Relu") || node.is("Clip")) && node.hasInput(0) && !node.outputs.empty())
            clips.emplace_back(n, &node);
        ++n;
    }
    std::vector<ClipBehind> found;
    for (const auto& [clip, node] : clips) {
        const std::string& between = node->inputs.front();
        const auto producer = links.producer.find(between);
        const bool alone = links.readers[between] == 1 && !draft.isOutput(between) && !draft.isCaptured(between);
        if (producer != links.producer.end() && alone)
            found.push_back({ producer->second, clip, between, node->outputs.front() });
    }
    return found;
}

NodeUnits nodeUnits(const Snapshot& snapshot, std::span<const ClipBehind> clips, std::span<const NodeState> states)
{
    std::vector<size_t> heads(states.size());
    std::iota(heads.begin(), heads.end(), size_t(0));
    if (clips.empty())
        return NodeUnits(heads);
    const Counterparts counterparts(snapshot);
    for (const ClipBehind& link : clips) {
        const std::optional<bool> between = counterparts.quantized(link.between);
        const bool takenIn = !between && counterparts.quantized(link.after) == true;
        const bool alike = between != true && states[link.node].quantized == states[link.clip].quantized;
        if (takenIn || alike)
            heads[link.clip] = heads[link.node];
    }
    return NodeUnits(heads);
}

QString unitTitle(std::span<const RecipeNode> nodes, std::span<const size_t> members)
{
    if (members.size() > kMostUnitsNamed)
        return tr("%1 and %2 more").arg(toQt(nodes[members[0]].name), countText(members.size() - 1));
    QStringList names;
    for (const size_t member : members)
        names << toQt(nodes[member].name);
    return names.join(QStringLiteral(" + "));
}

} // namespace qs
