// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/snapshot/build_snapshot.h"

#include "core/analysis/measure/pair_memory.h"
#include "core/analysis/other_rows.h"
#include "core/base/work/cancel_scope.h"
#include "core/base/work/stopwatch.h"
#include "core/data/class_names.h"
#include "core/engine/run/memory_budget.h"
#include "core/onnx/import.h"
#include "core/project/snapshot/comparing.h"
#include "core/project/snapshot/expanded_model.h"
#include "core/project/snapshot/pairing.h"
#include "core/project/snapshot/quantized_model.h"
#include "core/project/snapshot/samples.h"
#include "core/project/snapshot/steps.h"
#include "core/project/snapshot/warnings.h"
#include "core/quant/model/load_warnings.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace qs {

namespace {

void makeEngineCaches(Steps& s)
{
    EngineCaches& caches = s.next.caches;
    if (!caches.lowered)
        caches.lowered = std::make_shared<LoweringCache>();
    const uint64_t budget = s.context.cacheShare();
    if ((caches.activations ? caches.activations->budgetBytes() : 0) != budget)
        caches.activations = budget > 0 ? std::make_shared<ActivationCache>(budget) : nullptr;
}

std::optional<SampledModel> sampled(const Snapshot& s, const std::shared_ptr<const DataSource>& data)
{
    if (!s.floatModel)
        return std::nullopt;
    return SampledModel { *s.floatModel, data, s.inputs.carry };
}

/// What the recipe is applied to.
std::optional<SampledModel> quantizable(const Snapshot& s)
{
    if (!s.floatFile)
        return std::nullopt;
    return SampledModel { *s.floatFile, s.calibrationData ? s.calibrationData : s.data, s.inputs.carry };
}

/// What is remembered of other samples goes.
void keepWhatFits(Snapshot& next)
{
    EngineCaches& caches = next.caches;
    const auto quantizationOf = quantizable(next);
    if (caches.quantizationOf != quantizationOf)
        caches.quantization = nullptr;
    caches.quantizationOf = quantizationOf;
}

/// The same of pairs.
void keepPairsThatFit(Snapshot& next)
{
    EngineCaches& caches = next.caches;
    const auto pairsOf = sampled(next, next.data);
    if (caches.pairsOf != pairsOf || !caches.pairs || !caches.activations)
        caches.pairs = caches.activations ? std::make_shared<PairMemory>() : nullptr;
    caches.pairsOf = pairsOf;
}

Status load(Steps& s, const std::string& path, std::string_view phase, std::optional<ModelKey> StepKeys::*place,
    std::optional<LoadedModel> Snapshot::*loaded)
{
    if (path.empty())
        return {};
    const auto make = [&]() -> Status {
        s.context.report(phase);
        QS_TRY(const auto model, importModel(path, s.context.work.memoryBytes()));
        if (s.context.settings.memoryLimit > 0) // planning looks at all constants for their keys
            QS_CHECK(checkConstants(*model, s.context.settings.memoryLimit));
        s.next.*loaded = loadedModel(model, s.context.planOptions());
        return {};
    };
    return s.step(place, ModelKey { path }, make, loaded);
}

Status loadModels(Steps& s)
{
    const Asked& asked = s.next.inputs;
    QS_CHECK(load(s, asked.floatPath, "load float model", &StepKeys::floatModel, &Snapshot::floatFile));
    if (s.next.floatFile && !s.next.floatFile->draft)
        s.next.floatFile->draft = std::make_shared<const GraphDraft>(s.next.floatFile->model);
    return load(s, asked.quantPath, "load quantized model", &StepKeys::quantModel, &Snapshot::quantFile);
}

using DataPtr = std::shared_ptr<const DataSource>;

Status openOne(
    Steps& s, const DataRequest& request, std::optional<SamplesKey> StepKeys::*place, DataPtr Snapshot::*opened)
{
    const CarryNames& carry = s.next.inputs.carry;
    SamplesKey key { *s.next.floatFile, request, carry, {} };
    if (s.next.inputs.compare && s.next.quantFile)
        key.batches = fixedBatches(s.next.floatFile->graph(), s.next.quantFile->graph(), carry);
    const auto make = [&]() -> Status {
        QS_TRY(s.next.*opened, openSamples(key, s.context));
        return {};
    };
    return s.step(place, key, make, opened);
}

Status openAllData(Steps& s)
{
    const Asked& asked = s.next.inputs;
    if (asked.data.spec.empty() || !s.next.floatFile)
        return {};
    QS_CHECK(openOne(s, asked.data, &StepKeys::data, &Snapshot::data));
    if (asked.calibration.spec.empty())
        return {};
    return openOne(s, asked.calibration, &StepKeys::calibrationData, &Snapshot::calibrationData);
}

Status nameClasses(Steps& s)
{
    ClassNamesKey key { std::nullopt, s.next.inputs.classNamesPath, s.next.floatFile, s.next.data };
    if (const std::string& path = s.next.inputs.classNamesPath; !path.empty()) {
        QS_TRY(key.given, readClassNames(path));
    }
    const auto make = [&]() -> Status {
        QS_TRY(s.next.classNames, findClassNames(key));
        return {};
    };
    return s.step(&StepKeys::classNames, key, make, &Snapshot::classNames);
}

/// Makes the quantized model of the recipe.
Status quantize(Steps& s)
{
    const Asked& asked = s.next.inputs;
    if (!asked.recipe || !asked.quantPath.empty() || !s.next.floatFile)
        return {};
    const QuantizationKey key { *quantizable(s.next), *asked.recipe, asked.rangesPath, asked.calibrationCache };
    const auto make = [&]() -> Status {
        auto made = quantizedModel(key, s.context);
        if (!made)
            return blamedOnData(std::move(made).issue(), s.next.floatFile->graph(),
                asked.calibration.spec.empty() ? asked.data.spec : asked.calibration.spec);
        s.next.quantization = s.next.caches.quantization = std::move(made->quantization);
        s.next.quantFile = std::move(made->model);
        return {};
    };
    return s.step(&StepKeys::quantization, key, make, &Snapshot::quantization, &Snapshot::quantFile);
}

/// One of both models as it is compared.
Status expandOne(Steps& s, const std::optional<LoadedModel>& file, std::optional<ExpansionKey> StepKeys::*place,
    std::optional<LoadedModel> Snapshot::*expanded)
{
    if (!file || !s.next.floatFile) {
        s.next.*expanded = file;
        return {};
    }
    const bool compares = s.next.inputs.compare && s.next.quantFile;
    const ExpansionKey key { *file, compares ? s.next.data : nullptr, *s.next.floatFile, s.next.inputs.carry };
    const auto make = [&]() -> Status {
        QS_TRY(s.next.*expanded, expandedModel(key, s.context));
        return {};
    };
    return s.step(place, key, make, expanded);
}

Status expand(Steps& s)
{
    QS_CHECK(expandOne(s, s.next.floatFile, &StepKeys::floatBodies, &Snapshot::floatModel));
    return expandOne(s, s.next.quantFile, &StepKeys::quantBodies, &Snapshot::quantModel);
}

Status pair(Steps& s)
{
    const Snapshot& now = s.next;
    if (!now.floatModel || !now.quantModel || !now.inputs.compare)
        return {};
    uint64_t graphs = 0;
    for (const auto* model : { &*now.floatModel, &*now.quantModel }) {
        QS_CHECK(checkConstants(*model->plan, s.context.work.memoryBytes()));
        graphs += model->model->graphBytes;
    }
    QS_TRY(ManualLinks links, manualLinks(now.inputs.mapPath, now.inputs.links));
    AlignmentKey key { *now.floatModel, *now.quantModel, now.quantization != nullptr, std::move(links),
        now.inputs.carry, nullptr };
    if (now.inputs.run)
        key.data = now.data;
    const auto make = [&]() -> Status {
        QS_CHECK(s.withinMemory(graphs / 2 * 3)); // both networks without their quantizers, and what is noted of values
        QS_TRY(s.next.alignment, pairValues(key, s.context));
        return {};
    };
    QS_CHECK(s.step(&StepKeys::alignment, key, make, &Snapshot::alignment));
    for (const std::string& warning : disputeWarnings(now))
        s.next.warnings.push_back(warning);
    return {};
}

Status compare(Steps& s, const PartialFn& partial)
{
    const Asked& asked = s.next.inputs;
    if (!s.next.alignment || !s.next.data || !asked.run)
        return {};
    const bool prove = !s.next.quantization; // what a recipe made is the same network
    const ComparisonKey key { *sampled(s.next, s.next.data), *s.next.quantModel, s.next.alignment, s.next.quantization,
        s.next.quantization ? quantizable(s.next)->data : nullptr, asked.profile, asked.nodeAlone, asked.histograms,
        prove, asked.tasks, asked.shard };
    std::function<void(Comparison)> soFar;
    if (partial)
        soFar = [&](Comparison comparison) {
            Snapshot now = s.next;
            now.comparison = std::move(comparison);
            partial(std::make_shared<const Snapshot>(std::move(now)));
        };
    const auto make = [&]() -> Status {
        QS_TRY(Compared made, compareSampled(key, s.context, soFar));
        s.next.comparison = std::move(made.comparison);
        s.next.measured = std::move(made.measured);
        return {};
    };
    QS_CHECK(s.step(&StepKeys::comparison, key, make, &Snapshot::comparison, &Snapshot::measured));
    const DataSource& data = *s.next.data;
    for (const auto& warning : { unusedLabelsWarning(*s.next.comparison, data.labels(), !data.classNames().empty()),
             nonFiniteWarning(*s.next.comparison) })
        if (warning)
            s.next.warnings.push_back(*warning);
    std::ranges::move(untakenWarnings(*s.next.floatModel, *s.next.comparison), std::back_inserter(s.next.warnings));
    return {};
}

/// Asked for the commands of findings that change something, which are printed wherever these are shown.
Status readRecipe(Steps& s)
{
    const auto changes = [](const Finding& f) { return f.change.kind != RemedyKind::None; };
    if (s.next.quantization || !s.next.comparison || std::ranges::none_of(s.next.comparison->findings, changes))
        return {};
    const auto make = [&]() -> Status {
        s.next.recipeMakes = recipeMakesFile(s.next);
        return {};
    };
    return s.step(&StepKeys::recipeMakes, { *s.next.floatModel, *s.next.quantModel }, make, &Snapshot::recipeMakes);
}

/// What is asked of the second quantized model; it has no pairs by hand, which are those of the first one.
Inputs inputsOfOther(Inputs inputs)
{
    const OtherQuantized other = std::exchange(inputs.other, {});
    inputs.quantPath = other.path;
    inputs.recipe = other.recipe;
    inputs.mapPath.clear();
    inputs.links = {};
    inputs.nodeAlone = false;
    return inputs;
}

/// The last snapshot of the second model, with the float model and the data that the first has now.
SnapshotPtr besideFirst(const Steps& s)
{
    const auto& before = s.previous->other;
    auto start = before ? std::make_shared<Snapshot>(*before->snapshot) : std::make_shared<Snapshot>();
    start->floatFile = s.next.floatFile;
    start->floatModel = s.next.floatModel;
    start->keys.floatBodies = s.next.keys.floatBodies;
    start->keys.floatModel = s.next.keys.floatModel;
    start->data = s.next.data;
    start->keys.data = s.next.keys.data;
    start->calibrationData = s.next.calibrationData;
    start->keys.calibrationData = s.next.keys.calibrationData;
    start->caches = s.next.caches;
    return start;
}

/// The second quantized model over the same samples; what the first had run serves it, too.
Status compareOther(Steps& s)
{
    if (s.next.comparison)
        forgetOthers(*s.next.comparison); // which may be that of the snapshot before
    if (!s.next.inputs.other.given() || !s.next.comparison)
        return {};
    const Inputs inputs = inputsOfOther(s.next.inputs);
    const OtherKey key { *s.next.keys.comparison, inputs.asked(), s.next.calibrationData };
    const auto make = [&]() -> Status {
        auto found = std::make_shared<OtherComparison>();
        QS_TRY(found->snapshot, buildSnapshot(inputs, besideFirst(s), s.context.work.progress, s.context.work.cancel));
        found->differences = parameterDifferences(*s.next.comparison, *found->snapshot->comparison);
        s.next.other = std::move(found);
        return {};
    };
    QS_CHECK(s.step(&StepKeys::other, key, make, &Snapshot::other));
    numberOthers(*s.next.comparison, *s.next.other->snapshot->comparison);
    return {};
}

/// Other files than before are there to be drawn, while everything else is still to come.
void showStructure(const Steps& s, const PartialFn& partial)
{
    const bool other = s.next.floatFile != s.previous->floatFile
        || (!s.next.inputs.quantPath.empty() && s.next.quantFile != s.previous->quantFile);
    if (!partial || !other || s.context.work.cancel.cancelled())
        return;
    auto structure = std::make_shared<Snapshot>(s.next);
    structure->floatModel = s.next.floatFile;
    structure->quantModel = s.next.quantFile;
    partial(structure);
}

Status makeReady(Steps& s, const PartialFn& partial)
{
    makeEngineCaches(s);
    QS_CHECK(loadModels(s));
    QS_CHECK(unchanged(s.next)); // those of the snapshot before may be long open
    showStructure(s, partial);
    QS_CHECK(openAllData(s));
    QS_CHECK(nameClasses(s));
    keepWhatFits(s.next);
    QS_CHECK(quantize(s));
    QS_CHECK(expand(s));
    keepPairsThatFit(s.next);
    s.next.warnings = warningsOf(s.next);
    return {};
}

} // namespace

Status unchanged(const Snapshot& snapshot)
{
    for (const auto& model : { snapshot.floatFile, snapshot.quantFile })
        if (model)
            QS_CHECK(unchanged(filesOf(*model->model)));
    return snapshot.other ? unchanged(*snapshot.other->snapshot) : Status();
}

Result<SnapshotPtr> buildSnapshot(const Inputs& inputs, const SnapshotPtr& previous, const ProgressFn& progress,
    const CancelToken& cancel, const PartialFn& partial)
{
    const CancelScope scope(cancel);
    Steps s(inputs, previous, progress, cancel);
    Stopwatch clock;
    QS_CHECK(makeReady(s, partial));
    s.next.timing.loadMs = clock.lap();
    const auto explained = [&](Status status) -> Status {
        return status.ok() || !s.next.quantFile ? status
                                                : withLoadWarning(std::move(status).issue(), s.next.quantFile->model);
    };
    QS_CHECK(explained(pair(s)));
    s.next.timing.matchMs = clock.lap();
    QS_CHECK(explained(compare(s, partial)));
    QS_CHECK(readRecipe(s));
    QS_CHECK(compareOther(s));
    s.next.timing.runMs = clock.lap();
    QS_CHECK(unchanged(s.next));
    if (cancel.cancelled()) // steps that cannot fail may have left things out
        return cancelled();
    return SnapshotPtr(std::make_shared<Snapshot>(std::move(s.next)));
}

Result<SnapshotPtr> buildSnapshot(
    const Inputs& inputs, const SnapshotPtr& previous, const ProgressFn& progress, const CancelToken& cancel)
{
    return buildSnapshot(inputs, previous, progress, cancel, {});
}

} // namespace qs
