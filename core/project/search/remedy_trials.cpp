// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/search/remedy_trials.h"

#include "core/analysis/pairs/pair_plan.h"
#include "core/base/work/cancel_scope.h"
#include "core/base/work/memory.h"
#include "core/kernels/instruction_sets.h"
#include "core/project/mend/mended_file.h"
#include "core/project/snapshot/comparing.h"
#include "core/project/snapshot/quantized_example.h"
#include "core/quant/recipe/recipe_edit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace qs {

namespace {

constexpr double kSameDb = 3; ///< at the output: a recipe makes what the file is, but for how it rounds
constexpr double kExactDb = 144.5; ///< what float32 itself can hold: a result without any noise
constexpr size_t kAtOnce = 8; ///< models that are held in memory

/// Of the worst output; nothing where that is not a number.
Number worstDb(const OutputScore& score)
{
    if (score.exact() && score.signal > 0)
        return kExactDb;
    const Number db = score.worstSqnrDb();
    return db && std::isfinite(*db) ? Number(std::min(*db, kExactDb)) : Number();
}

Number points(const Number& after, const Number& before)
{
    return after && before ? Number(100 * (*after - *before)) : Number();
}

/// And not one constant alone.
bool quantizesAll(const Remedy& r) { return r.kind == RemedyKind::Requantize && r.node.empty() && r.tensor.empty(); }

/// Of the quantized model, by output of the float one.
std::vector<size_t> outputPlaces(const ComparePair& pair)
{
    const auto& outputs = pair.quantPlan->graph().outputs();
    std::vector<size_t> places(pair.floatPlan->graph().outputs().size(), SIZE_MAX);
    for (const OutputPair& out : pairOutputs(pair))
        for (size_t i = 0; i < places.size(); ++i)
            if (pair.floatPlan->graph().outputs()[i] == out.x)
                places[i] = size_t(std::ranges::find(outputs, out.y) - outputs.begin());
    return places;
}

} // namespace

RemedyTrials::RemedyTrials(const SnapshotPtr& snapshot, const ProgressFn& progress, const CancelToken& cancel)
    : m_snapshot(snapshot)
    , m_progress(progress)
    , m_cancel(cancel)
    , m_work(workFor(snapshot->inputs, {}, cancel))
    , m_caches(snapshot->caches)
{
}

Result<RemedyTrials> RemedyTrials::make(
    const SnapshotPtr& snapshot, const ProgressFn& progress, const CancelToken& cancel, size_t threads)
{
    const CancelScope scope(cancel);
    RemedyTrials trials(snapshot, progress, cancel);
    if (threads > 0)
        trials.m_work.threads = threads;
    if (progress)
        progress("try remedies", 0, 0);
    QS_CHECK(trials.begin());
    QS_CHECK(trials.findRecipe());
    if (cancel.cancelled())
        return cancelled();
    return trials;
}

Status RemedyTrials::begin()
{
    const ComparePair pair = comparePairOf(*m_snapshot);
    VariantRuns::Options options { memoryLimitOrDefault(m_work.memoryLimit) / 4, m_snapshot->inputs.carry, {} };
    options.outputs = outputPlaces(pair);
    options.tasks = m_snapshot->inputs.tasks;
    options.agreement = true;
    QS_TRY(m_runs, VariantRuns::make(pair.floatPlan, { pair.quantPlan }, m_snapshot->data, options, m_work));
    QS_CHECK(scoreNow({}));
    if (!before())
        return badInput("the outputs have no SQNR that could be gained", m_snapshot->inputs.quantPath, {});
    return {};
}

Status RemedyTrials::scoreNow(const std::vector<Remedy>& changes)
{
    const ArithmeticProfile profile = profileOf(changes);
    if (std::ranges::find(m_now, profile, &Now::profile) != m_now.end())
        return {};
    std::shared_ptr<const Plan> plan = comparePairOf(*m_snapshot).quantPlan;
    if (profile != m_snapshot->inputs.profile) {
        QS_TRY(plan, ready(m_snapshot->quantModel->model, changes));
    }
    QS_TRY(OutputScore now, score(plan));
    const Number db = worstDb(now);
    m_now.push_back({ profile, std::move(now), db });
    return {};
}

/// A Clip leaves fewer bits than the type has. No recipe says that: what it made would have more.
bool RemedyTrials::hasFewerBits() const
{
    return std::ranges::any_of(comparePairOf(*m_snapshot).quantView->quantizers(),
        [](const Quantizer& q) { return q.params.bits() < dtypeBits(q.params.dtype); });
}

/// Computes something else, or has other constants that do harm: one quantized from the float model has neither.
bool RemedyTrials::isOtherNetwork() const
{
    const auto& network = m_snapshot->comparison->network;
    return network && network->known() && !network->same();
}

Status RemedyTrials::findRecipe()
{
    const Inputs& inputs = m_snapshot->inputs;
    if (inputs.recipe && inputs.quantPath.empty()) {
        m_recipe = Base { *inputs.recipe, *inputs.recipe };
        m_exact = m_close = true;
        return {};
    }
    if (hasFewerBits() || !recipesKeepBlocks(*m_snapshot->quantModel))
        return {};
    const auto back = readExample(*m_snapshot);
    if (!back.ok())
        return {};
    m_recipe = Base { recipeWithRanges(*back), back->recipe };
    m_other = isOtherNetwork();
    if (m_other)
        return {};
    m_exact = m_close = back->differences == 0;
    if (m_exact)
        return {};
    const auto plan = planOf(m_recipe->as);
    Number made;
    if (plan.ok()) {
        QS_TRY(const OutputScore as, score(*plan));
        made = worstDb(as);
    }
    const bool otherWeights = std::ranges::any_of(m_snapshot->comparison->findings,
        [](const Finding& f) { return f.rule == Rule::WeightsDiffer && f.severity != Severity::Note; });
    m_close = made && std::abs(*made - *before()) <= kSameDb && !otherWeights;
    return {};
}

Result<OutputScore> RemedyTrials::score(const std::shared_ptr<const Plan>& plan)
{
    QS_TRY(
        const auto scores, m_runs->measure(1, [&](size_t) -> Result<std::shared_ptr<const Plan>> { return plan; }, {}));
    return scores.front();
}

/// Operators that compute on codes in the file itself add as the CPU does, whatever a runtime makes of the rest.
bool RemedyTrials::saturates(const std::vector<Remedy>& changes) const
{
    if (m_snapshot->inputs.profile == ArithmeticProfile::IntegerAvx2)
        return true;
    const auto is = [&](RemedyKind kind) { return std::ranges::find(changes, kind, &Remedy::kind) != changes.end(); };
    const QuantForm form = m_snapshot->quantModel->quant->form();
    const bool onCodes = form == QuantForm::QOperator || form == QuantForm::Dynamic;
    return addsPairsIn16Bits() && (is(RemedyKind::DynamicFormat) || (onCodes && !is(RemedyKind::StaticFormat)));
}

ArithmeticProfile RemedyTrials::profileOf(const std::vector<Remedy>& changes) const
{
    return saturates(changes) ? ArithmeticProfile::IntegerAvx2 : m_snapshot->inputs.profile;
}

std::string RemedyTrials::arithmeticText(const std::vector<Remedy>& changes) const
{
    if (m_snapshot->inputs.profile == ArithmeticProfile::IntegerAvx2 || !addsPairsIn16Bits())
        return {};
    const auto is = [&](RemedyKind kind) { return std::ranges::find(changes, kind, &Remedy::kind) != changes.end(); };
    const auto toUnsigned = [](const Remedy& r) { return r.ofAllWeights() && r.type == DType::UInt8; };
    const auto has = [&](QuantRole role, auto fits) {
        return std::ranges::any_of(m_snapshot->quantModel->quant->quantizers(),
            [&](const Quantizer& q) { return q.role == role && fits(q.params.dtype); });
    };
    const bool toInt8 = is(RemedyKind::EightBitWeight) && !std::ranges::any_of(changes, [&](const Remedy& r) {
        return r.kind == RemedyKind::EightBitWeight && toUnsigned(r);
    });
    if (saturates(changes)) {
        if (is(RemedyKind::ReduceRange))
            return " Weights of 8 bits let its sums saturate in 16 bits on this CPU, which has no VNNI.";
        const bool int8 = toInt8 || has(QuantRole::Weight, [](DType type) { return type == DType::Int8; });
        if (int8)
            return " It was tried with the sums of this CPU, which has no VNNI: they can saturate in 16 bits.";
        return is(RemedyKind::DynamicFormat) ? " It was tried with integer arithmetic, before and after." : "";
    }
    const auto makesLargeCodes = [](const Remedy& r) { // of weights that may have had smaller ones
        return r.kind == RemedyKind::PerChannel || r.kind == RemedyKind::Requantize;
    };
    const bool bytes = has(QuantRole::Activation, [](DType type) { return dtypeBits(type) == 8; });
    const bool int8 = toInt8 || (has(QuantRole::Weight, [](DType type) {
        return type == DType::Int8;
    }) && std::ranges::none_of(changes, [](const Remedy& r) { return r.kind == RemedyKind::EightBitWeight; }));
    const bool cut = toInt8 || std::ranges::any_of(changes, makesLargeCodes)
        || std::ranges::any_of(
            m_snapshot->comparison->findings, [](const Finding& f) { return f.rule == Rule::SaturatingAccumulation; });
    return int8 && bytes && cut && !is(RemedyKind::ReduceRange)
        ? " It was tried with exact sums: those of int8 weights can saturate in ONNX Runtime on this CPU, which has no "
          "VNNI; --reduce-range keeps them within 16 bits, and --arithmetic integer-avx2 tries it with such sums."
        : "";
}

Result<std::shared_ptr<const Plan>> RemedyTrials::ready(
    std::shared_ptr<const Model> model, const std::vector<Remedy>& changes) const
{
    return Plan::make(std::move(model), { KernelMode::Fast, profileOf(changes), m_caches.lowered });
}

std::shared_ptr<const DataSource> RemedyTrials::calibrationData() const
{
    return m_snapshot->calibrationData ? m_snapshot->calibrationData : m_snapshot->data;
}

Result<QuantizedModel> RemedyTrials::quantized(const Recipe& recipe, std::shared_ptr<const DataSource> data)
{
    const Snapshot& s = *m_snapshot;
    const SampledModel calibrated { *s.floatModel, std::move(data), s.inputs.carry };
    RunSettings settings = s.inputs.settings();
    settings.activationCache = std::max<uint64_t>(settings.activationCache, 1); // others follow
    const BuildContext context { settings, m_caches, m_work };
    const std::string kept = calibrated.data == calibrationData() ? s.inputs.calibrationCache : std::string();
    QS_TRY(QuantizedModel made, quantizedModel({ calibrated, recipe, s.inputs.rangesPath, kept }, context));
    m_caches.quantization = made.quantization;
    return made;
}

/// What quantizes the whole model anew is what it says, however close the recipe comes to the file. Of another network
/// nothing else is made so: it would be mended by the way.
bool RemedyTrials::byRecipe(const std::vector<Remedy>& changes) const
{
    const auto anew
        = [](const Remedy& r) { return r.kind == RemedyKind::Requantize || r.kind == RemedyKind::Recalibrate; };
    if (m_other)
        return m_recipe && changes.size() == 1 && quantizesAll(changes.front());
    return m_recipe && (m_close || std::ranges::all_of(changes, anew));
}

/// All activations are calibrated anew by the recipe, paired or not, where that leaves the weights as they are.
bool RemedyTrials::inFile(const std::vector<Remedy>& changes) const
{
    const bool recalibrates = changes.size() == 1 && changes.front().kind == RemedyKind::Recalibrate;
    const bool ownWeights = std::ranges::any_of(
        m_snapshot->comparison->findings, [](const Finding& f) { return f.rule == Rule::WeightsDiffer; });
    return !m_exact && !(m_recipe && recalibrates && !ownWeights && !m_other);
}

Recipe RemedyTrials::recipeWith(const std::vector<Remedy>& changes) const
{
    const bool anew = changes.front().kind == RemedyKind::Requantize;
    return anew ? recomputedCodes(m_recipe->fresh)
                : withRemedies(m_recipe->as, changes, *m_snapshot->floatModel->draft);
}

Result<std::shared_ptr<const Plan>> RemedyTrials::planOf(const Recipe& recipe, const std::vector<Remedy>& changes)
{
    QS_TRY(const QuantizedModel made, quantized(recipe, calibrationData()));
    const bool asMade = m_snapshot->inputs.profile == ArithmeticProfile::Simulated && !saturates(changes);
    return asMade ? made.model.plan : ready(made.model.model, changes);
}

Result<RemedyTrials::Made> RemedyTrials::made(const std::vector<Remedy>& changes)
{
    Made variant { changes, nullptr, inFile(changes) };
    if (variant.inFile) {
        const auto draft = mendedFile(*m_snapshot, changes);
        if (!draft.ok() && !byRecipe(changes))
            return draft.issue();
        variant.inFile = draft.ok();
        if (draft.ok()) {
            QS_TRY(const auto model, draft->build());
            QS_TRY(variant.plan, ready(model, changes));
        }
    }
    if (!variant.inFile) {
        QS_TRY(variant.plan, planOf(recipeWith(changes), changes));
    }
    return variant;
}

Result<GraphDraft> RemedyTrials::draftOf(const std::vector<Remedy>& changes)
{
    if (inFile(changes)) {
        auto draft = mendedFile(*m_snapshot, changes);
        if (draft.ok() && m_snapshot->quantModel->fitted) // whoever runs it gives it what it took before
            for (const FittedInput& fitted : *m_snapshot->quantModel->fitted)
                restore(*draft, fitted);
        if (draft.ok() || !byRecipe(changes))
            return draft;
    }
    QS_TRY(const QuantizedModel made, quantized(recipeWith(changes), calibrationData()));
    return made.quantization->draft;
}

const Trial* RemedyTrials::known(const std::vector<Remedy>& changes) const
{
    const auto it = std::ranges::find(m_trials, changes, &Trial::changes);
    return it == m_trials.end() ? nullptr : &*it;
}

Result<std::optional<Trial>> RemedyTrials::calibratedAsJudged()
{
    const CancelScope scope(m_cancel);
    if (!m_exact || !m_snapshot->calibrationData || !m_snapshot->inputs.rangesPath.empty())
        return std::optional<Trial>();
    const auto own = std::exchange(m_caches.quantization, nullptr); // of other samples
    const auto made = quantized(m_recipe->as, m_snapshot->data);
    m_caches.quantization = own;
    std::optional<Trial> trial;
    if (made.ok()) {
        const auto plan = ready(made->model.model);
        const auto after = plan.ok() ? score(*plan) : Result<OutputScore>(plan.issue());
        if (after.ok())
            trial = trialOf({}, *after);
    }
    if (m_cancel.cancelled())
        return cancelled();
    return trial;
}

Trial RemedyTrials::trialOf(std::vector<Remedy> changes, const std::optional<OutputScore>& after) const
{
    Trial trial;
    const auto now = std::ranges::find(m_now, profileOf(changes), &Now::profile);
    trial.changes = std::move(changes);
    if (now == m_now.end() || !now->db) // nothing that it could be held against
        return trial;
    if (const Number db = after ? worstDb(*after) : Number()) {
        trial.gainDb = *db - *now->db;
        trial.accuracyGain = points(after->accuracy(), now->score.accuracy());
        trial.top1Gain = points(after->agreement(), now->score.agreement());
        trial.agreementGain = points(after->taskAgreement(), now->score.taskAgreement());
        if (trial.agreementGain)
            trial.agreementOf = m_runs->tasks()[after->leastAgreeing()].what.kind;
    }
    return trial;
}

Status RemedyTrials::measure(const std::vector<std::vector<Remedy>>& choices, size_t total)
{
    const CancelScope scope(m_cancel);
    for (size_t next = 0; next < choices.size();) {
        std::vector<Made> variants;
        for (; next < choices.size() && variants.size() < kAtOnce; ++next) {
            const auto& choice = choices[next];
            if (choice.empty() || known(choice)
                || std::ranges::find(variants, choice, &Made::changes) != variants.end())
                continue;
            if (m_progress)
                m_progress("try remedies", m_trials.size() + variants.size(), std::max(total, m_trials.size()));
            auto variant = scoreNow(choice) ? made(choice) : badInput("cannot be measured");
            if (m_cancel.cancelled())
                return cancelled();
            if (variant.ok())
                variants.push_back(std::move(variant).value());
            else
                m_trials.push_back(trialOf(choice, {}));
        }
        QS_CHECK(run(variants));
    }
    return {};
}

Status RemedyTrials::run(const std::vector<Made>& variants)
{
    if (variants.empty())
        return {};
    const auto plan = [&](size_t variant) -> Result<std::shared_ptr<const Plan>> { return variants[variant].plan; };
    const auto scores = m_runs->measure(variants.size(), plan, {});
    for (size_t i = 0; i < variants.size() && !m_cancel.cancelled(); ++i) {
        std::optional<OutputScore> after;
        if (scores.ok())
            after = (*scores)[i];
        else if (const auto alone = score(variants[i].plan); alone.ok()) // one of them does not run
            after = *alone;
        m_trials.push_back(trialOf(variants[i].changes, after));
        m_trials.back().inFile = variants[i].inFile;
    }
    return m_cancel.cancelled() ? Status(cancelled()) : Status {};
}

} // namespace qs
