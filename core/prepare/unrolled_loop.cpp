// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/prepare/unrolled_loop.h"

#include "core/ops/fact_tools.h"

#include <algorithm>
#include <unordered_set>

namespace qs {

namespace {

constexpr int64_t kAxesAreInputs = 13; ///< opset from which Unsqueeze takes its axes as an input

int64_t at(const std::vector<int64_t>& list, size_t i) { return i < list.size() ? list[i] : 0; }

/// Its results are others each time.
bool isRandom(const Node& node)
{
    return node.opType.starts_with("Random") || node.is("Bernoulli") || node.is("Multinomial") || node.is("Dropout");
}

class Unroller {
public:
    Unroller(const DraftNode& node, const LoopShape& shape, BodyTarget& target, std::vector<IterationValue>& values)
        : m_node(node)
        , m_shape(shape)
        , m_body(*shape.body)
        , m_target(target)
        , m_values(values)
        , m_stacked(m_body.outputs().size() - firstState() - shape.states)
    {
    }

    Status run()
    {
        for (size_t k = 0; k < m_shape.states; ++k)
            m_states.push_back(m_node.inputs[k + (m_shape.counts ? 2 : 0)]);
        copyConstants(m_body, m_shared, m_target);
        m_target.way = wayOutOf(m_node, Derivation::Kind::Iteration);
        QS_CHECK(shareInvariants());
        for (int64_t i = 0; i < m_shape.trips; ++i)
            QS_CHECK(iteration(i));
        m_target.way = wayOutOf(m_node, Derivation::Kind::Iteration);
        for (size_t k = 0; k < m_stacked.size(); ++k)
            stack(k);
        return {};
    }

private:
    /// Index of the first state among the body's outputs.
    size_t firstState() const { return m_shape.counts ? 1 : 0; }
    std::string nameOf(ValueId id) const { return m_body.value(id).name; }

    /// What no iteration changes.
    Status shareInvariants()
    {
        std::unordered_set<std::string> changing;
        for (ValueId id : m_body.inputs())
            changing.insert(nameOf(id));
        for (const Node& node : m_body.nodes()) {
            bool same = !isRandom(node) && (node.is("Constant") || !node.inputs.empty());
            for (const auto* list : { &node.inputs, &node.captures })
                for (ValueId id : *list)
                    same = same && !(id.valid() && changing.contains(nameOf(id)));
            m_invariant.push_back(same);
            if (same) {
                QS_CHECK(copyNode(m_body, node, "", m_shared, m_target));
                continue;
            }
            for (ValueId id : node.outputs)
                if (id.valid())
                    changing.insert(nameOf(id));
        }
        return {};
    }

    std::string add(const std::string& wanted, Tensor constant)
    {
        const std::string name = m_target.names.value(wanted);
        m_target.draft.setConstant(name, std::move(constant));
        return name;
    }
    std::string add(const std::string& type, std::vector<std::string> inputs, const std::string& output,
        const std::vector<std::pair<std::string, int64_t>>& attributes)
    {
        DraftNode node { NodeId(), m_target.names.node(output), type, "", std::move(inputs), { output }, {} };
        for (const auto& [name, value] : attributes)
            node.attributes.set(name, value);
        node.cameFrom = derivedFrom(nullptr, m_target.way);
        m_target.nodes.push_back(std::move(node));
        return output;
    }

    /// What the body's inputs are in iteration i.
    void bindInputs(int64_t i, const std::string& prefix, NewNames& names)
    {
        const auto inputs = m_body.inputs();
        size_t next = 0;
        if (m_shape.counts) {
            const auto shape = [&](size_t input) { return Shape(loopInputDims(m_body, input).size(), 1); };
            names[nameOf(inputs[0])]
                = add(prefix + nameOf(inputs[0]), Tensor::of<int64_t>(shape(0), std::vector<int64_t> { i }));
            Tensor yes = Tensor::allocate(DType::Bool, shape(1));
            yes.fill<uint8_t>()[0] = 1;
            names[nameOf(inputs[1])] = add(prefix + nameOf(inputs[1]), std::move(yes));
            next = 2;
        }
        for (const std::string& state : m_states)
            names[nameOf(inputs[next++])] = state;
        for (size_t k = 0; k < m_shape.rows; ++k, ++next) {
            const int64_t row = at(m_shape.rowDirections, k) ? m_shape.trips - 1 - i : i;
            const std::string name = m_target.names.value(prefix + nameOf(inputs[next]));
            names[nameOf(inputs[next])] = name;
            add("Gather", { m_node.inputs[m_shape.states + k], add(name + "_row", Tensor::scalar<int64_t>(row)) }, name,
                { { "axis", at(m_shape.rowAxes, k) } });
            m_values.push_back({ name, m_node.name, m_node.opType, nameOf(inputs[next]), i });
        }
    }

    Status iteration(int64_t i)
    {
        const std::string prefix = m_node.name + "/" + std::to_string(i) + "/";
        m_target.way = wayOutOf(m_node, Derivation::Kind::Iteration, i);
        NewNames names = m_shared;
        bindInputs(i, prefix, names);
        const bool last = i + 1 == m_shape.trips;
        std::vector<std::string> wanted = m_node.outputs;
        wanted.resize(std::min(wanted.size(), m_shape.states));
        if (last)
            nameOutputs(m_body, firstState(), wanted, names);
        for (size_t n = 0; n < m_body.nodes().size(); ++n) {
            if (m_invariant[n])
                continue;
            const Node& node = m_body.nodes()[n];
            QS_CHECK(copyNode(m_body, node, prefix, names, m_target));
            for (ValueId id : node.outputs)
                if (id.valid())
                    m_values.push_back({ names.at(nameOf(id)), m_node.name, m_node.opType, nameOf(id), i });
        }
        const auto outputs = m_body.outputs();
        std::vector<std::string> states;
        for (size_t k = 0; k < m_shape.states; ++k)
            states.push_back(newName(names, nameOf(outputs[firstState() + k])));
        m_states = std::move(states);
        for (size_t k = 0; k < m_stacked.size(); ++k)
            m_stacked[k].push_back(newName(names, nameOf(outputs[firstState() + m_shape.states + k])));
        if (last)
            finishOutputs(m_body, firstState(), wanted, m_node.name, names, m_target);
        return {};
    }

    /// The rows of output k behind the states, along a new axis.
    void stack(size_t k)
    {
        const size_t out = m_shape.states + k;
        if (out >= m_node.outputs.size() || m_node.outputs[out].empty())
            return;
        const int64_t axis = at(m_shape.stackAxes, k);
        const auto opset = m_target.draft.opsets.find("");
        const bool asInput = opset != m_target.draft.opsets.end() && opset->second >= kAxesAreInputs;
        const std::string axes
            = asInput ? add(m_node.outputs[out] + "_axes", Tensor::of<int64_t>({ 1 }, { axis })) : "";
        std::vector<std::string> rows;
        for (const std::string& value : m_stacked[k]) {
            const std::string row = m_target.names.value(m_node.outputs[out] + "_row_" + std::to_string(rows.size()));
            add("Unsqueeze", asInput ? std::vector { value, axes } : std::vector { value }, row, {});
            if (!asInput)
                m_target.nodes.back().attributes.set("axes", std::vector<int64_t> { axis });
            rows.push_back(row);
        }
        if (at(m_shape.stackDirections, k))
            std::ranges::reverse(rows);
        add("Concat", std::move(rows), m_node.outputs[out], { { "axis", axis } });
    }

    const DraftNode& m_node;
    const LoopShape& m_shape;
    const Graph& m_body;
    BodyTarget& m_target;
    std::vector<IterationValue>& m_values;
    NewNames m_shared; ///< constants and what no iteration changes
    std::vector<bool> m_invariant; ///< by node of the body
    std::vector<std::string> m_states; ///< in front of the next iteration
    std::vector<std::vector<std::string>> m_stacked; ///< by output behind the states, one an iteration
};

} // namespace

Status unrollLoop(
    const DraftNode& node, const LoopShape& shape, BodyTarget& target, std::vector<IterationValue>& values)
{
    return Unroller(node, shape, target, values).run();
}

} // namespace qs
