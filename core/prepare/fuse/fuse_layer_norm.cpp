// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/ops/infer.h"
#include "core/prepare/fuse/pattern_graph.h"
#include "core/tensor/convert.h"

namespace qs {

namespace {

class Finder {
public:
    Finder(const PatternGraph& graph, const std::unordered_map<std::string, size_t>& ranks)
        : m_graph(graph)
        , m_ranks(ranks)
    {
    }
    /// Around the square root in the middle.
    std::optional<FoundPattern> around(size_t root) const;

private:
    /// The value whose mean over the last axis this is; empty where it is none.
    std::string meanOf(const std::string& name, std::set<size_t>& used) const;
    /// The value whose square this is.
    std::string squareOf(const std::string& name, std::set<size_t>& used) const;
    const PatternGraph& m_graph;
    const std::unordered_map<std::string, size_t>& m_ranks;
};

std::string Finder::meanOf(const std::string& name, std::set<size_t>& used) const
{
    const DraftNode* mean = m_graph.made(name, "ReduceMean", used);
    if (!mean || mean->attributes.integer("keepdims", 1) != 1 || !mean->hasInput(0))
        return {};
    std::vector<int64_t> axes = mean->attributes.integers("axes");
    if (mean->hasInput(1)) { // from opset 18 on
        const Tensor* constant = m_graph.draft().constant(mean->inputs[1]);
        if (!constant)
            return {};
        axes = toInts(*constant);
    }
    const auto rank = m_ranks.find(mean->inputs[0]);
    const int64_t last = rank == m_ranks.end() ? -1 : static_cast<int64_t>(rank->second) - 1;
    return axes.size() == 1 && (axes[0] == -1 || (axes[0] >= 0 && axes[0] == last)) ? mean->inputs[0] : std::string();
}

std::string Finder::squareOf(const std::string& name, std::set<size_t>& used) const
{
    if (const DraftNode* power = m_graph.made(name, "Pow", used))
        return power->inputs.size() == 2 && m_graph.isScalar(power->inputs[1], 2) ? power->inputs[0] : std::string();
    const DraftNode* product = m_graph.made(name, "Mul", used);
    return product && product->inputs.size() == 2 && product->inputs[0] == product->inputs[1] ? product->inputs[0]
                                                                                              : std::string();
}

std::optional<FoundPattern> Finder::around(size_t root) const
{
    const GraphDraft& draft = m_graph.draft();
    FoundPattern found;
    found.nodes.insert(root);
    const DraftNode* sum = m_graph.made(draft.nodes[root].inputs[0], "Add", found.nodes);
    if (!sum || sum->inputs.size() != 2)
        return std::nullopt;
    const size_t epsilonAt = m_graph.scalar(sum->inputs[1]) ? 1 : 0;
    const auto epsilon = m_graph.scalar(sum->inputs[epsilonAt]);
    constexpr double kLargest = 0.1; // what is added for safety, not a summand
    if (!epsilon || *epsilon < 0 || *epsilon > kLargest)
        return std::nullopt;
    const std::string square = meanOf(sum->inputs[1 - epsilonAt], found.nodes);
    const std::string centred = square.empty() ? square : squareOf(square, found.nodes);
    const DraftNode* difference = centred.empty() ? nullptr : m_graph.made(centred, "Sub", found.nodes);
    if (!difference || meanOf(difference->inputs[1], found.nodes) != difference->inputs[0])
        return std::nullopt;
    const std::string& x = difference->inputs[0];
    const DraftNode* quotient = m_graph.onlyReader(draft.nodes[root].outputs[0], "Div", found.nodes);
    if (!quotient || quotient->inputs[1] != draft.nodes[root].outputs[0])
        return std::nullopt;
    if (quotient->inputs[0] != centred) { // some exporters subtract twice
        const DraftNode* again = m_graph.made(quotient->inputs[0], "Sub", found.nodes);
        if (!again || again->inputs != difference->inputs)
            return std::nullopt;
    }
    const auto vector = [&](const std::string& name) {
        const Tensor* constant = draft.constant(name);
        return constant && constant->rank() == 1 ? constant : nullptr;
    };
    const DraftNode* scaled = m_graph.onlyReader(quotient->outputs[0], "Mul", found.nodes);
    const std::string gamma = scaled ? otherInput(*scaled, quotient->outputs[0]) : std::string();
    if (!scaled || !vector(gamma))
        return std::nullopt;
    const DraftNode* last = scaled;
    std::set<size_t> tail;
    found.node = { NodeId(), "", "LayerNormalization", "", { x, gamma }, {}, {} };
    const DraftNode* shifted = m_graph.onlyReader(scaled->outputs[0], "Add", tail);
    const std::string beta = shifted ? otherInput(*shifted, scaled->outputs[0]) : std::string();
    if (shifted && vector(beta) && vector(beta)->shape() == vector(gamma)->shape()) {
        found.nodes.merge(tail);
        found.node.inputs.push_back(beta);
        last = shifted;
    }
    found.last = m_graph.links().producer(last->outputs[0]);
    found.node.attributes.set("axis", int64_t(-1));
    found.node.attributes.set("epsilon", static_cast<float>(*epsilon));
    return found;
}

} // namespace

Result<PassReport> fuseLayerNorm(GraphDraft& draft)
{
    PassReport report { "fuse_layer_norm", 0, {} };
    constexpr int64_t kFirst = 17;
    QS_TRY(const auto model, draft.build());
    const InferredFacts facts = inferFacts(model->graph);
    std::unordered_map<std::string, size_t> ranks;
    const auto values = model->graph.values();
    for (size_t v = 0; v < values.size(); ++v)
        if (const auto& dims = facts.of(ValueId(v)).dims)
            ranks.emplace(values[v].name, dims->size());
    std::vector<FoundPattern> found;
    {
        const PatternGraph graph(draft);
        const Finder finder(graph, ranks);
        for (size_t n = 0; n < draft.nodes.size(); ++n)
            if (draft.nodes[n].is("Sqrt"))
                if (auto pattern = finder.around(n))
                    found.push_back(std::move(*pattern));
    }
    const auto opset = draft.opsets.find("");
    applyPatterns(draft, std::move(found), opset != draft.opsets.end() && opset->second >= kFirst, report);
    return report;
}

} // namespace qs
