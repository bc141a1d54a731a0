// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/plan/value_keys.h"

#include "core/base/work/cancel_scope.h"
#include "core/engine/lowered/content_key.h"
#include "core/engine/lowered/lower_graph.h"

#include <map>
#include <span>

namespace qs {

namespace {

class ValueKeys {
public:
    ValueKeys(const LoweredGraph& lowered, const std::vector<FusedUnit>& units,
        std::vector<std::optional<Hash128>> constantKeys, const PlanOptions& options)
        : m_lowered(lowered)
        , m_options(options)
        , m_keys(std::move(constantKeys))
    {
        for (const FusedUnit& unit : units)
            m_units[unit.nodes.back()] = &unit;
    }

    std::vector<std::optional<Hash128>> run() &&
    {
        const Graph& graph = m_lowered.graph();
        for (size_t i = 0; i < graph.inputs().size(); ++i)
            m_keys[graph.inputs()[i].index()] = KeyBuilder().add("input").add(static_cast<int64_t>(i)).key();
        for (size_t n = 0; n < graph.nodes().size() && !stopAsked(); ++n)
            if (!m_lowered.step(NodeId(n)).folded) // else its values have keys of their own
                addNode(NodeId(n));
        return std::move(m_keys);
    }

private:
    void addNode(NodeId id)
    {
        const Node& node = m_lowered.graph().node(id);
        std::optional<Hash128> own = operatorKey(node, m_options.mode, m_options.profile);
        KeyBuilder key;
        const auto addInputs = [&](std::span<const ValueId> inputs) {
            for (ValueId in : inputs) {
                const std::optional<Hash128> from = in.valid() ? keyOf(m_lowered, in, m_keys) : Hash128 {};
                if (!from)
                    own.reset();
                else
                    key.add(*from);
            }
        };
        addInputs(node.inputs);
        const auto unit = m_units.find(id);
        if (unit != m_units.end() && unit->second->when == FusedUnit::When::Always) {
            key.add("unit").add(unit->second->lowered.kernel);
            addInputs(unit->second->inputs);
        }
        for (size_t i = 0; own && i < node.outputs.size(); ++i)
            if (node.outputs[i].valid() && !m_lowered.constant(node.outputs[i]))
                m_keys[node.outputs[i].index()] = KeyBuilder(key).add(*own).add(static_cast<int64_t>(i)).key();
    }

    const LoweredGraph& m_lowered;
    const PlanOptions& m_options;
    std::map<NodeId, const FusedUnit*> m_units; ///< by last node
    std::vector<std::optional<Hash128>> m_keys; ///< by value
};

} // namespace

std::vector<std::optional<Hash128>> valueKeys(const LoweredGraph& lowered, const std::vector<FusedUnit>& units,
    std::vector<std::optional<Hash128>> constantKeys, const PlanOptions& options)
{
    return ValueKeys(lowered, units, std::move(constantKeys), options).run();
}

} // namespace qs
