// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/snapshot/comparing.h"

#include "core/analysis/compare.h"
#include "core/analysis/confirm/coded_parameter.h"
#include "core/analysis/pairs/folded_constants.h"
#include "core/analysis/rows/weight_rows.h"
#include "core/analysis/tasks/recognition.h"
#include "core/project/quantize/provenance.h"
#include "core/project/snapshot/expanded_model.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

/// Of what both files have, by the names of nodes.
std::vector<UntakenPair> untakenPairs(const LoadedModel& floatModel, const LoadedModel& quantModel)
{
    std::vector<UntakenPair> pairs;
    if (!floatModel.bodies || !quantModel.bodies)
        return pairs;
    for (const UntakenBranch& ours : floatModel.bodies->untaken)
        for (const UntakenBranch& theirs : quantModel.bodies->untaken)
            if (ours.node == theirs.node && ours.ofTrue == theirs.ofTrue)
                pairs.push_back({ branchName(ours), ours.plan, theirs.plan });
    return pairs;
}

ComparePair readyPair(const LoadedModel& floatModel, const LoadedModel& quantModel,
    std::shared_ptr<const Alignment> alignment, const PlanOptions& options)
{
    ComparePair pair { floatModel.plan, quantModel.plan, quantModel.quant, std::move(alignment) };
    pair.quantizedReference = !floatModel.isFloat();
    pair.lowered = options.cache;
    pair.untaken = untakenPairs(floatModel, quantModel);
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
    const ComparePair& files, const DataSource& data, const CompareOptions& options, const WorkContext& work)
{
    auto weights = compareWeights(files, options.histograms, work.threadCount());
    if (work.cancel.cancelled())
        return cancelled();
    const ComparePair pair = withEqualized(files, weights);
    QS_TRY(const auto measured, measureModels(pair, data, options, work, {}));
    Comparison comparison = summarize(pair, options.profile, *measured, data.labels(), std::move(weights));
    return Compared { std::move(comparison), measured };
}

/// A run that fails where a scale has no end fails for it.
Issue withEndlessScales(Issue issue, const LoadedModel& model)
{
    std::vector<std::string> names;
    for (const Quantizer& q : model.quant->quantizers())
        if (std::ranges::any_of(q.params.scale, [](float scale) { return !std::isfinite(scale); }) && q.shown().valid())
            names.push_back("'" + model.graph().value(q.shown()).name + "'");
    if (names.empty() || issue.kind != IssueKind::BadInput)
        return issue;
    issue.what += "; the scale of " + names.front()
        + (names.size() > 1 ? " and of " + std::to_string(names.size() - 1) + " more tensors" : std::string())
        + " is infinite, so what is made of it is no number";
    issue.remedy = "leave these tensors in float, or calibrate them without infinite values";
    return issue;
}

/// So does one where codes have changed sizes.
Issue withOtherSizes(Issue issue, const ComparePair& pair)
{
    const std::string sizes = issue.kind == IssueKind::BadInput ? otherSizesText(pair) : std::string();
    if (sizes.empty())
        return issue;
    issue.what += "; " + sizes;
    issue.remedy = "store them as the numbers that they are, without quantizers";
    return issue;
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
    auto made = compareModels(pair, data, options, besideCache, partial);
    if (!made.ok())
        return withOtherSizes(withEndlessScales(made.issue(), key.quantModel), pair);
    return Compared { std::move(made).value(), nullptr };
}

ComparePair comparePairOf(const Snapshot& s)
{
    ComparePair pair = readyPair(
        *s.floatModel, *s.quantModel, s.alignment, { KernelMode::Fast, s.inputs.profile, s.caches.lowered });
    pair.tasks = s.inputs.tasks;
    if (s.comparison)
        pair.equalized = s.comparison->equalized;
    return pair;
}

FoldedConstants foldedConstantsOf(const Snapshot& s)
{
    return FoldedConstants(
        s.floatModel->plan, *s.quantModel->plan, *s.quantModel->quant, *s.alignment, FoldedConstants::Factors::Fitted);
}

} // namespace qs
