// SPDX-License-Identifier: GPL-3.0-or-later
// Rewriting of nodes whose form changed between versions of ai.onnx. Source: ONNX, Changelog of operators.
#include "core/quant/model/opsets.h"

#include "core/ops/infer.h"

#include <algorithm>
#include <limits>

namespace qs {

namespace {

class OpsetRaiser {
public:
    OpsetRaiser(GraphDraft& draft, const std::unordered_map<std::string, size_t>& ranks)
        : m_draft(draft)
        , m_ranks(ranks)
    {
    }
    /// Makes the node valid for `version`, being valid for the one before.
    Status step(DraftNode& node, int64_t version);

private:
    using Rule = Status (OpsetRaiser::*)(DraftNode&);
    struct Change {
        int64_t version;
        const char* type;
        Rule rule;
    };
    static const std::vector<Change>& changes();

    Status refuse(DraftNode& node)
    {
        return Issue { IssueKind::BadInput,
            "its operator '" + node.opType + "' has another meaning in the operator set that this recipe needs",
            m_draft.source().path, node.name, {}, "export the model with a newer opset" };
    }
    void input(DraftNode& node, size_t slot, const std::string& attribute, Tensor tensor)
    {
        const std::string name = (node.name.empty() ? node.outputs.front() : node.name) + "_" + attribute;
        m_draft.setConstant(name, std::move(tensor));
        if (node.inputs.size() <= slot)
            node.inputs.resize(slot + 1);
        node.inputs[slot] = name;
    }
    void drop(DraftNode& node, const std::string& attribute)
    {
        Attributes kept;
        for (const auto& [name, value] : node.attributes.all())
            if (name != attribute)
                kept.set(name, value);
        node.attributes = std::move(kept);
        node.attributesChanged = true;
    }
    void integersToInput(DraftNode& node, const std::string& attribute, size_t slot)
    {
        if (!node.attributes.has(attribute))
            return;
        const auto values = node.attributes.integers(attribute);
        input(node, slot, attribute, Tensor::of<int64_t>({ static_cast<int64_t>(values.size()) }, values));
        drop(node, attribute);
    }
    std::optional<int64_t> rank(const std::string& name) const
    {
        const auto it = m_ranks.find(name);
        return it == m_ranks.end() ? std::nullopt : std::optional<int64_t>(static_cast<int64_t>(it->second));
    }

    Status broadcast(DraftNode& node)
    {
        return node.attributes.has("axis") || node.attributes.integer("broadcast", 0) != 0 ? refuse(node) : Status {};
    }
    Status batchNorm9(DraftNode& node)
    {
        if (node.attributes.integer("spatial", 1) == 0)
            return refuse(node);
        drop(node, "spatial");
        return {};
    }
    Status slice10(DraftNode& node)
    {
        integersToInput(node, "starts", 1);
        integersToInput(node, "ends", 2);
        integersToInput(node, "axes", 3);
        return {};
    }
    Status topK10(DraftNode& node)
    {
        input(node, 1, "k", Tensor::of<int64_t>({ 1 }, { node.attributes.integer("k", 0) }));
        drop(node, "k");
        return {};
    }
    Status clip11(DraftNode& node)
    {
        if (node.attributes.has("min"))
            input(node, 1, "min", Tensor::scalar(node.attributes.real("min", std::numeric_limits<float>::lowest())));
        if (node.attributes.has("max"))
            input(node, 2, "max", Tensor::scalar(node.attributes.real("max", std::numeric_limits<float>::max())));
        drop(node, "min");
        drop(node, "max");
        return {};
    }
    Status pad11(DraftNode& node)
    {
        integersToInput(node, "pads", 1);
        if (node.attributes.text("mode", "constant") == "constant")
            input(node, 2, "value", Tensor::scalar(node.attributes.real("value", 0)));
        drop(node, "value");
        return {};
    }
    Status dropout12(DraftNode& node)
    {
        drop(node, "ratio"); // means nothing outside of training
        return {};
    }
    Status softmax13(DraftNode& node)
    {
        const auto dims = rank(node.inputs.front());
        int64_t axis = node.attributes.integer("axis", 1);
        if (axis < 0 && dims)
            axis += *dims;
        if (!dims || axis != *dims - 1)
            return refuse(node); // it flattened what follows the axis
        node.attributes.set("axis", axis);
        node.attributesChanged = true;
        return {};
    }
    Status split13(DraftNode& node)
    {
        integersToInput(node, "split", 1);
        return {};
    }
    Status axesToInput(DraftNode& node)
    {
        integersToInput(node, "axes", 1);
        return {};
    }
    Status split18(DraftNode& node)
    {
        if (!node.hasInput(1)) {
            node.attributes.set("num_outputs", static_cast<int64_t>(node.outputs.size()));
            node.attributesChanged = true;
        }
        return {};
    }

    GraphDraft& m_draft;
    const std::unordered_map<std::string, size_t>& m_ranks;
};

const std::vector<OpsetRaiser::Change>& OpsetRaiser::changes()
{
    using R = OpsetRaiser;
    static const std::vector<Change> all { { 7, "Add", &R::broadcast }, { 7, "Sub", &R::broadcast },
        { 7, "Mul", &R::broadcast }, { 7, "Div", &R::broadcast }, { 7, "Gemm", &R::broadcast },
        { 7, "Pow", &R::broadcast }, { 7, "PRelu", &R::broadcast }, { 9, "Scan", &R::refuse },
        { 9, "BatchNormalization", &R::batchNorm9 }, { 9, "Upsample", &R::refuse }, { 10, "Upsample", &R::refuse },
        { 10, "Slice", &R::slice10 }, { 10, "TopK", &R::topK10 }, { 11, "Clip", &R::clip11 }, { 11, "Pad", &R::pad11 },
        { 11, "Resize", &R::refuse }, { 11, "Scatter", &R::refuse }, { 12, "Dropout", &R::dropout12 },
        { 13, "Softmax", &R::softmax13 }, { 13, "LogSoftmax", &R::softmax13 }, { 13, "Hardmax", &R::softmax13 },
        { 13, "Split", &R::split13 }, { 13, "Squeeze", &R::axesToInput }, { 13, "Unsqueeze", &R::axesToInput },
        { 13, "ReduceSum", &R::axesToInput }, { 18, "ReduceL1", &R::axesToInput }, { 18, "ReduceL2", &R::axesToInput },
        { 18, "ReduceLogSum", &R::axesToInput }, { 18, "ReduceLogSumExp", &R::axesToInput },
        { 18, "ReduceMax", &R::axesToInput }, { 18, "ReduceMean", &R::axesToInput },
        { 18, "ReduceMin", &R::axesToInput }, { 18, "ReduceProd", &R::axesToInput },
        { 18, "ReduceSumSquare", &R::axesToInput }, { 18, "Split", &R::split18 }, { 20, "GridSample", &R::refuse },
        { 21, "GroupNormalization", &R::refuse } };
    return all;
}

Status OpsetRaiser::step(DraftNode& node, int64_t version)
{
    for (const Change& change : changes())
        if (change.version == version && node.is(change.type))
            QS_CHECK((this->*change.rule)(node));
    return {};
}

/// By name, as far as they are known.
Result<std::unordered_map<std::string, size_t>> ranksIn(const GraphDraft& draft)
{
    QS_TRY(const auto built, draft.build());
    const InferredFacts facts = inferFacts(built->graph);
    const auto values = built->graph.values();
    std::unordered_map<std::string, size_t> ranks;
    for (size_t v = 0; v < values.size(); ++v)
        if (const Fact& fact = facts.of(ValueId(v)); fact.dims)
            ranks.emplace(values[v].name, fact.dims->size());
    return ranks;
}

Result<bool> raise(GraphDraft& draft, int64_t version);

/// The body for the later version; the same one where that changes none of its nodes.
Result<std::shared_ptr<const Graph>> raisedBody(
    const GraphDraft& outer, const std::shared_ptr<const Graph>& body, int64_t version)
{
    GraphDraft draft = draftOfBody(outer, *body);
    QS_TRY(const bool changed, raise(draft, version));
    if (!changed)
        return body;
    QS_TRY(const auto model, draft.build());
    return std::shared_ptr<const Graph>(model, &model->graph);
}

/// Whether a node became another one.
Result<bool> raise(GraphDraft& draft, int64_t version)
{
    QS_TRY(const auto ranks, ranksIn(draft));
    const auto it = draft.opsets.find("");
    const int64_t from = it == draft.opsets.end() ? 1 : it->second;
    OpsetRaiser raiser(draft, ranks);
    bool changed = false;
    for (DraftNode& node : draft.nodes) {
        const auto inputs = node.inputs;
        for (int64_t v = from + 1; v <= version && node.domain.empty(); ++v)
            QS_CHECK(raiser.step(node, v));
        QS_CHECK(replaceSubgraphs(node, [&](const auto& body) { return raisedBody(draft, body, version); }));
        changed = changed || node.attributesChanged || node.inputs != inputs;
    }
    draft.opsets[""] = version;
    return changed;
}

} // namespace

Status raiseOpset(GraphDraft& draft, int64_t version)
{
    const Result<bool> raised = raise(draft, version);
    return raised ? Status {} : Status(raised.issue());
}

} // namespace qs
