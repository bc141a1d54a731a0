// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/arithmetic/saturation_trials.h"

#include "core/analysis/findings/remedy.h"
#include "core/base/issue_text.h"
#include "core/project/arithmetic/saturating_node.h"
#include "core/project/snapshot/quantized_example.h"
#include "core/quant/recipe/recipe_edit.h"

#include <algorithm>

namespace qs {

namespace {

using Kind = SaturationTrial::Kind;

/// Rows where sums saturate, most pairs first.
std::vector<const SaturationRow*> worstNodes(const Comparison& comparison, size_t most)
{
    std::vector<const SaturationRow*> rows;
    for (const SaturationRow& row : comparison.saturation)
        if (row.saturatedPairs() > 0)
            rows.push_back(&row);
    std::ranges::stable_sort(
        rows, [](const auto* a, const auto* b) { return a->saturatedPairs() > b->saturatedPairs(); });
    rows.resize(std::min(rows.size(), most));
    return rows;
}

/// Keeps the granularity that the weight has.
Recipe withReduced(Recipe recipe, const WeightRow& weight)
{
    TensorOverride& own = recipe.tensors[weight.name];
    if (!own.axis && weight.params.scale.size() > 1)
        own.axis = weight.params.axis;
    return withReducedWeight(std::move(recipe), weight.name);
}

Recipe withTypes(Recipe recipe, const GraphDraft& floatModel, DType type)
{
    return withWeightType(withActivationType(std::move(recipe), floatModel, type), floatModel, type);
}

/// Remedies that the recipe does not hold already.
std::vector<SaturationTrial> candidates(const Recipe& recipe, const Snapshot& snapshot, size_t nodes)
{
    const Comparison& comparison = *snapshot.comparison;
    const GraphDraft& floatModel = *snapshot.floatModel->draft;
    std::vector<SaturationTrial> list;
    for (const SaturationRow* row : worstNodes(comparison, nodes)) {
        const std::string node = floatNodeOf(comparison, row->quantNode);
        const WeightRow* weight = weightOf(comparison, row->quantNode);
        if (weight && recipe.format == RecipeFormat::Qdq && !recipe.reduceRange)
            list.push_back({ Kind::ReduceHere, node, withReduced(recipe, *weight), {}, 0, {} });
        if (!node.empty())
            list.push_back({ Kind::Exclude, node,
                withRemedy(recipe, { RemedyKind::ExcludeNode, node, {}, 0, 0, 0 }, floatModel), {}, 0, {} });
    }
    if (!recipe.reduceRange)
        list.push_back({ Kind::ReduceEverywhere, {}, withReducedWeights(recipe, floatModel), {}, 0, {} });
    const Recipe bothUnsigned = withTypes(recipe, floatModel, DType::UInt8),
                 bothSigned = withTypes(recipe, floatModel, DType::Int8);
    if (!(bothUnsigned == recipe))
        list.push_back({ Kind::UnsignedWeights, {}, bothUnsigned, {}, 0, {} });
    if (!(bothSigned == recipe) && recipe.format != RecipeFormat::Dynamic)
        list.push_back({ Kind::SignedActivations, {}, bothSigned, {}, 0, {} });
    return list;
}

struct BaseRecipe {
    Recipe recipe;
    bool asFile = true;
};

Result<BaseRecipe> baseOf(const Snapshot& snapshot)
{
    if (snapshot.inputs.recipe && snapshot.inputs.quantPath.empty())
        return BaseRecipe { *snapshot.inputs.recipe, true };
    QS_TRY(const ReadBack back, readExample(snapshot));
    return BaseRecipe { recipeWithRanges(back), back.differences == 0 };
}

class Trials {
public:
    Trials(const SnapshotPtr& snapshot, const CancelToken& cancel)
        : m_snapshot(snapshot)
        , m_last(withoutMemory(*snapshot))
        , m_cancel(cancel)
    {
    }
    /// The comparison that a recipe gives; of the snapshot itself for its own.
    Result<SnapshotPtr> made(const Recipe& recipe)
    {
        Inputs inputs = byRecipe(measuredAlone(m_snapshot->inputs), recipe);
        QS_TRY(m_last, buildSnapshot(inputs, m_last, {}, m_cancel));
        if (!m_last->comparison)
            return badInput("cannot be compared", {}, {});
        return m_last;
    }
    Status measure(SaturationTrial& trial)
    {
        const auto now = made(trial.recipe);
        if (m_cancel.cancelled())
            return cancelled();
        if (!now.ok()) {
            trial.problem = issueText(now.issue());
            return {};
        }
        trial.numbers = runNumbers(**now);
        trial.share = saturatingShare(*(*now)->comparison);
        return {};
    }

private:
    SnapshotPtr m_snapshot, m_last;
    const CancelToken& m_cancel;
};

double worth(const SaturationTrial& trial)
{
    if (!trial.problem.empty())
        return -2e9;
    return trial.numbers.exact ? 1e9 : trial.numbers.outputSqnrDb.value_or(-1e9);
}

} // namespace

std::string_view saturationTrialName(Kind kind)
{
    switch (kind) {
    case Kind::ReduceHere:
        return "reduce_range_here";
    case Kind::Exclude:
        return "exclude";
    case Kind::ReduceEverywhere:
        return "reduce_range";
    case Kind::UnsignedWeights:
        return "u8u8";
    case Kind::SignedActivations:
        break;
    }
    return "s8s8";
}

Result<SaturationTrials> trySaturationRemedies(
    const SnapshotPtr& snapshot, size_t nodes, const ProgressFn& progress, const CancelToken& cancel)
{
    if (!snapshot->comparison || !snapshot->floatModel || snapshot->inputs.profile != ArithmeticProfile::IntegerAvx2)
        return badInput("was not run with saturating sums", snapshot->inputs.quantPath, "choose integer-avx2");
    QS_TRY(const BaseRecipe base, baseOf(*snapshot));
    SaturationTrials result;
    result.asFile = base.asFile;
    result.trials = candidates(base.recipe, *snapshot, nodes);
    Trials trials(snapshot, cancel);
    QS_TRY(const SnapshotPtr before, trials.made(base.recipe));
    result.before = runNumbers(*before);
    result.shareBefore = saturatingShare(*before->comparison);
    for (size_t i = 0; i < result.trials.size(); ++i) {
        if (progress)
            progress("try remedies", i, result.trials.size());
        QS_CHECK(trials.measure(result.trials[i]));
    }
    std::ranges::stable_sort(result.trials, [](const auto& a, const auto& b) { return worth(a) > worth(b); });
    return result;
}

} // namespace qs
