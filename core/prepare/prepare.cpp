// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/prepare/prepare.h"

#include "core/base/work/cancel_scope.h"
#include "core/ops/infer.h"
#include "core/ops/needed_values.h"

#include <algorithm>

namespace qs {

Result<PassReport> inferShapes(GraphDraft& draft)
{
    PassReport report { "infer_shapes", 0 };
    QS_TRY(const auto model, draft.build());
    const InferredFacts facts = inferFacts(model->graph);
    const auto values = model->graph.values();
    for (size_t v = 0; v < values.size(); ++v) {
        const Value& value = values[v];
        const Fact& fact = facts.of(ValueId(v));
        if (!value.producer.valid() || fact.dtype == DType::Undefined || isContainer(fact.dtype)
            || !value.type.container.empty())
            continue;
        const ValueType type { fact.dtype, fact.dims, {} };
        if (value.type.dtype == type.dtype && value.type.dims == type.dims)
            continue;
        draft.types[value.name] = type;
        ++report.changes;
    }
    return report;
}

namespace {

using Pass = Result<PassReport> (*)(GraphDraft&);
constexpr std::pair<const char*, Pass> kPasses[] { { "fold_branches", foldBranches },
    { "fold_constants", foldConstants }, { "remove_unused", removeUnused }, { "fold_batch_norm", foldBatchNorm },
    { "fuse_layer_norm", fuseLayerNorm }, { "fuse_gelu", fuseGelu }, { "fuse_attention", fuseAttention },
    { "fuse_skip_layer_norm", fuseSkipLayerNorm }, { "fuse_gemm", fuseGemm }, { "keep_attention", keepAttention },
    { "infer_shapes", inferShapes } };

} // namespace

const std::vector<std::string>& preparationPasses()
{
    static const std::vector<std::string> names = [] {
        std::vector<std::string> all;
        for (const auto& [name, pass] : kPasses)
            all.emplace_back(name);
        return all;
    }();
    return names;
}

Result<PassReport> runPreparationPass(const std::string& name, GraphDraft& draft)
{
    const auto* pass = std::ranges::find(kPasses, name, &std::pair<const char*, Pass>::first);
    return pass == std::end(kPasses) ? Result<PassReport>(internalError("no such pass: " + name)) : pass->second(draft);
}

Result<std::vector<PassReport>> prepareGraph(GraphDraft& draft, const std::vector<std::string>& skip)
{
    QS_CHECK(checkNeededValues(draft));
    std::vector<PassReport> reports;
    for (const auto& [name, pass] : kPasses) {
        if (std::ranges::find(skip, name) != skip.end())
            continue;
        if (stopAsked())
            return cancelled();
        QS_TRY(PassReport report, pass(draft));
        reports.push_back(std::move(report));
    }
    return reports;
}

} // namespace qs
