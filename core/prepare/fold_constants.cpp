// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/prepare/fold_known_sizes.h"
#include "core/prepare/plan_constant.h"
#include "core/prepare/prepare.h"

#include <algorithm>

namespace qs {

namespace {

constexpr size_t kAlwaysSmall = size_t(1) << 16;

/// All that it makes is constant and no larger than what it reads.
bool folds(const GraphDraft& draft, const DraftNode& node, const Plan& plan)
{
    size_t made = 0, read = 0;
    for (const std::string& out : node.outputs) {
        const Tensor* value = out.empty() || draft.isOutput(out) ? nullptr : constantOf(plan, out);
        if (!value)
            return false;
        made += value->byteCount();
    }
    for (const std::string& in : node.inputs)
        if (const Tensor* value = constantOf(plan, in))
            read += value->byteCount();
    const bool grows = node.opType != "Constant" && made > std::max(read, kAlwaysSmall);
    return !node.outputs.empty() && !grows;
}

Result<size_t> foldIn(GraphDraft& draft, const Plan& plan);

/// The subgraph with its constants folded; the same one where it has none, or no plan among `plans`.
Result<std::shared_ptr<const Graph>> foldedBody(const GraphDraft& outer, const std::shared_ptr<const Graph>& body,
    const std::vector<std::shared_ptr<const Plan>>& plans, size_t& changes)
{
    const auto plan = std::ranges::find(plans, body.get(), [](const auto& p) { return &p->graph(); });
    if (plan == plans.end())
        return body;
    GraphDraft inner = draftOfBody(outer, *body);
    QS_TRY(const size_t folded, foldIn(inner, **plan));
    if (folded == 0)
        return body;
    changes += folded;
    QS_TRY(const auto model, inner.build());
    return std::shared_ptr<const Graph>(model, &model->graph);
}

Result<size_t> foldIn(GraphDraft& draft, const Plan& plan)
{
    size_t changes = 0;
    std::vector<DraftNode> kept;
    for (DraftNode& node : draft.nodes) {
        const bool nests = !subgraphs(node.attributes).empty();
        const ValueId made = node.outputs.empty() ? ValueId() : plan.graph().findValue(node.outputs[0]);
        if (nests && made.valid() && plan.graph().value(made).producer.valid()) {
            const auto& plans = plan.step(plan.graph().value(made).producer).subPlans;
            QS_CHECK(replaceSubgraphs(node,
                [&](const std::shared_ptr<const Graph>& body) { return foldedBody(draft, body, plans, changes); }));
        }
        if (nests || !folds(draft, node, plan)) {
            kept.push_back(std::move(node));
            continue;
        }
        for (const std::string& out : node.outputs)
            draft.setConstant(out, *constantOf(plan, out));
        ++changes;
    }
    draft.nodes = std::move(kept);
    draft.noteCaptures();
    draft.dropUnusedConstants();
    return changes;
}

} // namespace

Result<PassReport> foldConstants(GraphDraft& draft)
{
    PassReport report { "fold_constants", 0 };
    QS_TRY(const auto model, draft.build());
    const auto plan = Plan::make(model);
    QS_TRY(report.changes, foldIn(draft, *plan));
    QS_TRY(const size_t sizes, foldKnownSizes(draft));
    if (sizes > 0) { // and what is computed from them
        QS_TRY(const auto next, draft.build());
        QS_TRY(const size_t behind, foldIn(draft, *Plan::make(next)));
        report.changes += sizes + behind;
    }
    return report;
}

} // namespace qs
