// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/prepare/layouts/channels_last.h"

#include "core/graph/domains.h"
#include "core/prepare/layouts/image_nodes.h"

#include <algorithm>
#include <array>

namespace qs {

namespace {

constexpr size_t kTurnedAxes = 3; ///< samples, channels, places: at least
constexpr int64_t kConvolvesCodes = 10, kPoolsCodes = 12; ///< opsets from which QLinearConv is, and MaxPool takes codes

/// Its image comes and goes with channels last.
template <class N> bool isLast(const N& node)
{
    if (node.is("NhwcMaxPool", kMicrosoftDomain))
        return true;
    static constexpr std::array<std::string_view, 3> types { "QLinearConv", "QLinearAveragePool",
        "QLinearGlobalAveragePool" };
    return node.domain == kMicrosoftDomain && node.attributes.integer("channels_last", 0) != 0
        && std::ranges::find(types, node.opType) != types.end();
}

using Names = std::unordered_set<std::string>;

class LayoutTurner {
public:
    LayoutTurner(GraphDraft& draft, const Plan& plan)
        : m_draft(draft)
        , m_facts(draft, plan)
        , m_opset(draft.opsets.contains("") ? draft.opsets.at("") : 0)
    {
    }

    void run()
    {
        findCandidates();
        keepWanted();
        std::vector<DraftNode> nodes = std::move(m_draft.nodes);
        m_draft.nodes.clear();
        for (DraftNode& node : nodes) {
            rewrite(node);
            m_draft.nodes.push_back(std::move(node));
        }
        std::ranges::move(m_added, std::back_inserter(m_draft.nodes));
    }

private:
    bool comesSecond(const DraftNode& node) const
    {
        return isLast(node) && (m_opset >= kPoolsCodes || node.opType != "NhwcMaxPool");
    }

    bool isTurn(const DraftNode& node, std::vector<int64_t> (*order)(size_t)) const
    {
        if (!node.is("Transpose") || !node.hasInput(0) || !node.hasOutput(0))
            return false;
        const auto perm = node.attributes.integers("perm");
        return perm.size() >= kTurnedAxes && perm == order(perm.size());
    }

    /// The inputs whose axes count; empty where the node does not take images in any order.
    std::vector<size_t> images(const DraftNode& node) const
    {
        if (comesSecond(node))
            return { 0 };
        return takesAnyOrder(node) ? m_facts.images(node) : std::vector<size_t> {};
    }

    /// Forwards: what could have its channels second, and of it what operators with channels last made.
    void findCandidates()
    {
        for (const DraftNode& node : m_draft.nodes) {
            if (!node.hasOutput(0))
                continue;
            const std::string& out = node.outputs[0];
            const size_t rank = m_facts.rank(out);
            const auto inputs = rank < kTurnedAxes ? std::vector<size_t> {} : images(node);
            const auto hold
                = [&](const Names& names) { return [&](size_t i) { return names.contains(node.inputs[i]); }; };
            if (comesSecond(node)
                    ? rank >= kTurnedAxes
                    : isTurn(node, toChannelsLast) || (!inputs.empty() && std::ranges::all_of(inputs, hold(m_turned))))
                m_turned.insert(out);
            if (m_turned.contains(out) && (comesSecond(node) || std::ranges::any_of(inputs, hold(m_made))))
                m_made.insert(out);
        }
    }

    /// Backwards: of the others those that operators with channels last read.
    void keepWanted()
    {
        Names wanted = m_made;
        for (auto node = m_draft.nodes.rbegin(); node != m_draft.nodes.rend(); ++node)
            if (node->hasOutput(0) && wanted.contains(node->outputs[0]))
                for (const size_t i : images(*node))
                    if (m_turned.contains(node->inputs[i]))
                        wanted.insert(node->inputs[i]);
        m_turned = std::move(wanted);
    }

    void rewrite(DraftNode& node)
    {
        if (node.hasOutput(0) && m_turned.contains(node.outputs[0])) {
            const size_t rank = m_facts.rank(node.outputs[0]);
            if (isTurn(node, toChannelsLast)) {
                if (m_turned.contains(node.inputs[0]))
                    node.inputs[0] = last(node.inputs[0]);
                becomeIdentity(node);
            } else {
                turn(node, rank);
            }
            holdOutput(node, rank);
        } else if (isTurn(node, toChannelsSecond) && m_turned.contains(node.inputs[0])) {
            node.inputs[0] = second(node.inputs[0]);
            becomeIdentity(node);
        } else {
            for (std::string& in : node.inputs)
                if (m_turned.contains(in))
                    in = last(in);
        }
    }

    static void becomeIdentity(DraftNode& node)
    {
        node.opType = "Identity";
        node.attributes = {};
        node.attributesChanged = true;
    }

    void turn(DraftNode& node, size_t rank)
    {
        for (const size_t i : images(node)) {
            std::string& in = node.inputs[i];
            in = m_turned.contains(in) ? second(in) : turnedInput(in, rank);
        }
        if (comesSecond(node)) {
            if (node.opType == "NhwcMaxPool")
                node.opType = "MaxPool";
            // ONNX Runtime infers no shapes of its own QLinearConv but with channels last.
            if (node.opType == "MaxPool" || (node.opType == "QLinearConv" && m_opset >= kConvolvesCodes))
                node.domain.clear();
            Attributes kept;
            for (const auto& [name, value] : node.attributes.all())
                if (name != "channels_last")
                    kept.set(name, value);
            node.attributes = std::move(kept);
            node.attributesChanged = true;
        } else if (node.opType.ends_with("Concat")) {
            const auto order = toChannelsLast(rank);
            const int64_t axis = node.attributes.integer("axis", 0);
            node.attributes.set("axis", order[size_t(axis < 0 ? axis + int64_t(rank) : axis)]);
            node.attributesChanged = true;
        }
    }

    /// A value that others than nodes read stays as it is; the turned one stands before it.
    void holdOutput(DraftNode& node, size_t rank)
    {
        const std::string out = node.outputs[0];
        m_draft.types[second(out)] = ValueType { m_facts.dtype(out), std::nullopt, {} };
        if (!isFixed(out))
            return;
        node.outputs[0] = second(out);
        addTurn(second(out), out, toChannelsLast(rank));
    }

    bool isFixed(const std::string& name) const { return m_draft.isOutput(name) || m_draft.isCaptured(name); }
    /// What holds a turned value with its channels second.
    std::string second(const std::string& name) const { return isFixed(name) ? name + "_channels_second" : name; }
    /// What holds it with its channels last.
    std::string last(const std::string& name)
    {
        if (isFixed(name))
            return name;
        const std::string turned = name + "_channels_last";
        if (m_copied.insert(turned).second)
            addTurn(name, turned, toChannelsLast(m_facts.rank(name)));
        return turned;
    }
    std::string turnedInput(const std::string& name, size_t rank)
    {
        const std::string turned = name + "_channels_second";
        if (m_copied.insert(turned).second)
            addTurn(name, turned, toChannelsSecond(rank));
        return turned;
    }

    void addTurn(const std::string& from, const std::string& to, const std::vector<int64_t>& order)
    {
        DraftNode node { {}, to, "Transpose", "", { from }, { to }, {} };
        node.attributes.set("perm", order);
        m_added.push_back(std::move(node));
    }

    GraphDraft& m_draft;
    const ImageFacts m_facts;
    const int64_t m_opset;
    Names m_turned, m_made; ///< values of the file
    Names m_copied; ///< names that were added
    std::vector<DraftNode> m_added;
};

} // namespace

bool hasChannelsLast(const Graph& graph)
{
    return std::ranges::any_of(graph.nodes(), [](const Node& node) { return isLast(node); });
}

void putChannelsSecond(GraphDraft& draft, const Plan& plan) { LayoutTurner(draft, plan).run(); }

} // namespace qs
