// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/snapshot/comparing.h"

#include "core/analysis/compare.h"
#include "core/analysis/pairs/folded_constants.h"
#include "core/analysis/rows/weight_rows.h"
#include "core/analysis/tasks/recognition.h"
#include "core/project/quantize/provenance.h"

#include <algorithm>

namespace qs {

namespace {

ComparePair readyPair(const LoadedModel& floatModel, const LoadedModel& quantModel,
    std::shared_ptr<const Alignment> alignment, const PlanOptions& options)
{
    ComparePair pair { floatModel.plan, quantModel.plan, quantModel.quant, std::move(alignment) };
    pair.quantizedReference = !floatModel.isFloat();
    pair.lowered = options.cache;
    if (options.profile != ArithmeticProfile::Simulated) {
        pair.writtenPlan = pair.quantPlan;
        pair.quantPlan = Plan::make(quantModel.model, options);
    }
    return pair;
}

CompareOptions compareOptions(const ComparisonKey& key, const BuildContext& context)
{
    CompareOptions options;
    options.profile = key.profile;
    options.nodeAlone = key.nodeAlone;
    options.histograms = key.histograms;
    options.carry = key.sampled.carry;
    options.activations = context.caches.activations;
    options.pairs = context.caches.pairs;
    options.shard = key.shard.value_or(Shard {});
    options.prove = key.prove;
    return options;
}

Result<Compared> compareShard(
    const ComparePair& pair, const DataSource& data, const CompareOptions& options, const WorkContext& work)
{
    QS_TRY(const auto measured, measureModels(pair, data, options, work, {}));
    auto weights = compareWeights(pair, options.histograms, work.threadCount());
    if (work.cancel.cancelled())
        return cancelled();
    Comparison comparison = summarize(pair, options.profile, *measured, data.labels(), std::move(weights));
    return Compared { std::move(comparison), measured };
}

} // namespace

Result<Compared> compareSampled(
    const ComparisonKey& key, const BuildContext& context, const std::function<void(Comparison)>& partial)
{
    PlanOptions plan = context.planOptions();
    plan.profile = key.profile;
    ComparePair pair = readyPair(key.sampled.floatModel, key.quantModel, key.alignment, plan);
    QS_CHECK(checkTasks(*key.sampled.floatModel.plan, key.tasks));
    pair.tasks = key.tasks;
    if (key.quantization)
        pair.provenance = std::make_shared<const Provenance>(
            provenanceOf(*key.quantization, key.calibrationData, key.sampled.data.get()));
    if (context.work.cancel.cancelled()) // that plan may lack steps
        return cancelled();
    const CompareOptions options = compareOptions(key, context);
    const DataSource& data = *key.sampled.data;
    WorkContext besideCache = context.work;
    besideCache.memoryLimit = context.work.memoryBytes() - context.cacheShare();
    if (key.shard)
        return compareShard(pair, data, options, besideCache);
    QS_TRY(Comparison made, compareModels(pair, data, options, besideCache, partial));
    return Compared { std::move(made), nullptr };
}

ComparePair comparePairOf(const Snapshot& s)
{
    ComparePair pair = readyPair(
        *s.floatModel, *s.quantModel, s.alignment, { KernelMode::Fast, s.inputs.profile, s.caches.lowered });
    pair.tasks = s.inputs.tasks;
    return pair;
}

FoldedConstants foldedConstantsOf(const Snapshot& s)
{
    return FoldedConstants(
        s.floatModel->plan, *s.quantModel->plan, *s.quantModel->quant, *s.alignment, FoldedConstants::Factors::Fitted);
}

} // namespace qs
