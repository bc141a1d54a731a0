// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/prepare/fold_known_sizes.h"

#include "core/graph/draft_links.h"
#include "core/ops/infer.h"
#include "core/tensor/convert.h"

#include <map>

namespace qs {

namespace {

constexpr int64_t kMostSizes = 64;

} // namespace

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

} // namespace qs
