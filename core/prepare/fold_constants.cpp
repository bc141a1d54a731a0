// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/plan/plan.h"
#include "core/graph/draft_links.h"
#include "core/ops/infer.h"
#include "core/prepare/prepare.h"

#include "core/tensor/convert.h"

#include <algorithm>
#include <map>

namespace qs {

namespace {

constexpr int64_t kMostSizes = 64;

/// What is computed of sizes that are known becomes a constant, also Gather of one size of a shape that is not known as
/// a whole.
Result<size_t> foldKnownSizes(GraphDraft& draft)
{
    QS_TRY(const auto model, draft.build());
    const InferredFacts facts = inferFacts(model->graph);
    const DraftLinks links(draft);
    const auto knownSize = [&](const DraftNode& node) -> std::optional<int64_t> {
        const Tensor* index = node.is("Gather") && node.inputs.size() == 2 ? draft.constant(node.inputs[1]) : nullptr;
        const size_t at = index && index->count() == 1 ? links.producer(node.inputs[0]) : SIZE_MAX;
        if (at == SIZE_MAX || !draft.nodes[at].is("Shape") || draft.nodes[at].attributes.has("start")
            || draft.nodes[at].attributes.has("end") || draft.isOutput(node.outputs[0]))
            return std::nullopt;
        const ValueId of = model->graph.findValue(draft.nodes[at].inputs[0]);
        const auto dims = of.valid() ? facts.of(of).dims : std::nullopt;
        if (!dims)
            return std::nullopt;
        int64_t axis = toInts(*index)[0];
        axis += axis < 0 ? int64_t(dims->size()) : 0;
        const bool inside = axis >= 0 && axis < int64_t(dims->size());
        return inside && (*dims)[size_t(axis)].known() ? std::optional((*dims)[size_t(axis)].value) : std::nullopt;
    };
    const auto computed = [&](const DraftNode& node) -> const Tensor* {
        const bool one
            = node.outputs.size() == 1 && !draft.isOutput(node.outputs[0]) && subgraphs(node.attributes).empty();
        const ValueId id = one ? model->graph.findValue(node.outputs[0]) : ValueId();
        if (!id.valid() || !facts.of(id).value)
            return nullptr;
        const Tensor& value = *facts.of(id).value;
        return value.dtype() == DType::Int64 && value.count() <= kMostSizes ? &value : nullptr;
    };
    std::map<std::string, Tensor> found;
    std::vector<DraftNode> kept;
    for (const DraftNode& node : draft.nodes)
        if (const Tensor* value = computed(node))
            found.emplace(node.outputs[0], *value);
        else if (const auto size = knownSize(node))
            found.emplace(node.outputs[0], Tensor::of<int64_t>(draft.constant(node.inputs[1])->shape(), { *size }));
        else
            kept.push_back(node);
    draft.nodes = std::move(kept);
    for (auto& [name, tensor] : found)
        draft.setConstant(name, std::move(tensor));
    return found.size();
}

/// Nodes whose results are constants; their number.
Result<size_t> foldConstantNodes(GraphDraft& draft)
{
    size_t folded = 0;
    QS_TRY(const auto model, draft.build());
    const auto plan = Plan::make(model);
    const Graph& graph = model->graph;
    constexpr size_t kAlwaysSmall = size_t(1) << 16;
    std::vector<DraftNode> kept;
    for (DraftNode& node : draft.nodes) {
        size_t made = 0, read = 0;
        bool constant = !node.outputs.empty()
            && node.attributes.all().end() == std::ranges::find_if(node.attributes.all(), [](const auto& a) {
                   return std::holds_alternative<std::shared_ptr<const Graph>>(a.second);
               });
        for (const std::string& out : node.outputs) {
            const Tensor* value = out.empty() ? nullptr : plan->constant(graph.findValue(out));
            constant = constant && value && !draft.isOutput(out);
            made += value ? value->byteCount() : 0;
        }
        for (const std::string& in : node.inputs)
            if (const Tensor* value = in.empty() ? nullptr : plan->constant(graph.findValue(in)))
                read += value->byteCount();
        const bool grows = node.opType != "Constant" && made > std::max(read, kAlwaysSmall);
        if (!constant || grows) {
            kept.push_back(std::move(node));
            continue;
        }
        for (const std::string& out : node.outputs)
            draft.setConstant(out, *plan->constant(graph.findValue(out)));
        ++folded;
    }
    draft.nodes = std::move(kept);
    draft.dropUnusedConstants();
    return folded;
}

} // namespace

Result<PassReport> foldConstants(GraphDraft& draft)
{
    PassReport report { "fold_constants", 0 };
    QS_TRY(report.changes, foldConstantNodes(draft));
    QS_TRY(const size_t sizes, foldKnownSizes(draft));
    if (sizes > 0) { // what is computed from them
        QS_TRY(const size_t behind, foldConstantNodes(draft));
        report.changes += sizes + behind;
    }
    return report;
}

} // namespace qs
