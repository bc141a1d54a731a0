// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/plan/plan.h"
#include "core/prepare/prepare.h"

#include <algorithm>

namespace qs {

Result<PassReport> foldConstants(GraphDraft& draft)
{
    PassReport report { "fold_constants", 0 };
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
        ++report.changes;
    }
    draft.nodes = std::move(kept);
    draft.dropUnusedConstants();
    return report;
}

} // namespace qs
