// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/prepare/fold_known_sizes.h"

#include "core/ops/infer.h"

#include <map>

namespace qs {

namespace {

constexpr int64_t kMostSizes = 64;

} // namespace

Result<size_t> foldKnownSizes(GraphDraft& draft)
{
    QS_TRY(const auto model, draft.build());
    const InferredFacts facts = inferFromInputs(model->graph);
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
        else
            kept.push_back(node);
    draft.nodes = std::move(kept);
    for (auto& [name, tensor] : found)
        draft.setConstant(name, std::move(tensor));
    return found.size();
}

} // namespace qs
