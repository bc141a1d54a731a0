// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/snapshot/workspace.h"

#include "core/analysis/bypass/numeric_pairs.h"
#include "core/analysis/compare.h"
#include "core/analysis/measure/pair_memory.h"
#include "core/analysis/pairs/folded_constants.h"
#include "core/analysis/rows/weight_rows.h"
#include "core/base/issue_text.h"
#include "core/base/work/cancel_scope.h"
#include "core/base/work/parallel.h"
#include "core/base/work/stopwatch.h"
#include "core/engine/run/carry.h"
#include "core/engine/run/execution.h"
#include "core/onnx/import.h"
#include "core/project/memory.h"
#include "core/project/quantize/quantize_model.h"
#include "core/project/snapshot/same_inputs.h"

#include <algorithm>

namespace qs {

namespace {

/// One walk through the steps; each keeps what `previous` already has.
class Builder {
public:
    Builder(const Inputs& inputs, const SnapshotPtr& previous, const ProgressFn& progress, const CancelToken& cancel,
        const PartialFn& partial)
        : m_previous(previous)
        , m_progress(progress)
        , m_cancel(cancel)
        , m_partial(partial)
    {
        m_next.inputs = inputs;
    }

    Result<SnapshotPtr> run()
    {
        const CancelScope scope(m_cancel);
        prepareCaches();
        const Stopwatch loading;
        QS_CHECK(load(m_next.inputs.floatPath, &Snapshot::floatModel, &Inputs::floatPath, "load float model"));
        QS_CHECK(load(m_next.inputs.quantPath, &Snapshot::quantModel, &Inputs::quantPath, "load quantized model"));
        QS_CHECK(loadData());
        QS_CHECK(nameClasses());
        QS_CHECK(quantize());
        noteForms();
        m_next.timing.loadMs = loading.ms();
        const Stopwatch matching;
        QS_CHECK(match());
        m_next.timing.matchMs = matching.ms();
        const Stopwatch running;
        QS_CHECK(compare());
        QS_CHECK(compareOther());
        m_next.timing.runMs = running.ms();
        if (m_cancel.cancelled()) // steps that cannot fail may have left things out
            return cancelled();
        return SnapshotPtr(std::make_shared<Snapshot>(std::move(m_next)));
    }

private:
    void report(std::string_view phase) const
    {
        if (m_progress)
            m_progress(phase, 0, 0);
    }

    void prepareCaches()
    {
        if (m_previous)
            m_next.caches = m_previous->caches;
        if (!m_next.caches.lowered)
            m_next.caches.lowered = std::make_shared<LoweringCache>();
        const uint64_t budget
            = std::min(m_next.inputs.activationCache, memoryLimitOrDefault(m_next.inputs.memoryLimit) / 2);
        if ((m_next.caches.activations ? m_next.caches.activations->budgetBytes() : 0) != budget)
            m_next.caches.activations = budget > 0 ? std::make_shared<ActivationCache>(budget) : nullptr;
        if (!sameSource())
            m_next.caches.quantization = nullptr;
        if (!sameSource() || !m_next.caches.activations)
            m_next.caches.pairs = m_next.caches.activations ? std::make_shared<PairMemory>() : nullptr;
    }

    Status load(const std::string& path, std::optional<LoadedModel> Snapshot::*model, std::string Inputs::*key,
        std::string_view phase)
    {
        if (path.empty())
            return {};
        if (m_cancel.cancelled())
            return cancelled();
        if (m_previous && (*m_previous).*model && m_previous->inputs.*key == path) {
            m_next.*model = (*m_previous).*model;
        } else {
            report(phase);
            QS_TRY(auto imported, importModel(path));
            if (m_cancel.cancelled())
                return cancelled();
            m_next.*model = loadedModel(std::move(imported), planOptions());
            if (model == &Snapshot::floatModel)
                m_next.floatModel->draft = std::make_shared<const GraphDraft>(m_next.floatModel->model);
            if (m_cancel.cancelled())
                return cancelled();
        }
        for (const auto& [id, issue] : (m_next.*model)->plan->unsupported())
            m_next.warnings.push_back(issueText(issue));
        const Plan& plan = *(m_next.*model)->plan;
        for (const ValueId out : plan.graph().outputs())
            if (const std::string container = plan.container(out); !container.empty())
                m_next.warnings.push_back(
                    path + ": output '" + plan.graph().value(out).name + "' is a " + container + " and is left out");
        const auto& warnings = (m_next.*model)->model->warnings;
        m_next.warnings.insert(m_next.warnings.end(), warnings.begin(), warnings.end());
        return {};
    }

    bool sameSource() const
    {
        return m_previous && m_previous->inputs.floatPath == m_next.inputs.floatPath
            && sameData(m_previous->inputs.data, m_next.inputs.data)
            && sameData(m_previous->inputs.calibration, m_next.inputs.calibration)
            && m_previous->inputs.carry == m_next.inputs.carry;
    }

    bool sameQuantized() const
    {
        const Inputs& before = m_previous->inputs;
        const Inputs& now = m_next.inputs;
        if (!now.recipe || !now.quantPath.empty())
            return before.quantPath == now.quantPath && !m_previous->quantization;
        return m_previous->quantization && sameSource() && before.recipe == now.recipe
            && before.rangesPath == now.rangesPath;
    }

    /// Makes the quantized model of the recipe.
    Status quantize()
    {
        if (!m_next.inputs.recipe || !m_next.inputs.quantPath.empty() || !m_next.floatModel)
            return {};
        if (m_previous && sameQuantized()) {
            m_next.quantization = m_previous->quantization;
            m_next.quantModel = m_previous->quantModel;
        } else {
            report("quantize");
            QuantizeInputs inputs;
            inputs.model = m_next.floatModel->model;
            inputs.recipe = *m_next.inputs.recipe;
            inputs.data = m_next.calibrationData ? m_next.calibrationData : m_next.data;
            inputs.rangesPath = m_next.inputs.rangesPath;
            inputs.calibrationCache = m_next.inputs.calibrationCache;
            inputs.othersFollow = m_next.inputs.activationCache > 0; // kept for the next runs as well
            inputs.threads = m_next.inputs.threads ? m_next.inputs.threads : hardwareThreads();
            inputs.memoryLimit = m_next.inputs.memoryLimit;
            inputs.carry = m_next.inputs.carry;
            inputs.earlier = m_next.caches.quantization;
            QS_TRY(Quantization made, quantizeModel(inputs, m_progress, m_cancel));
            QS_TRY(const auto model, made.draft.build());
            auto named = std::make_shared<Model>(*model); // people should not read it as the file
            named->path = m_next.inputs.floatPath + " by recipe";
            m_next.quantModel = loadedModel(std::move(named), planOptions());
            if (m_cancel.cancelled())
                return cancelled();
            m_next.quantization = std::make_shared<const Quantization>(std::move(made));
            m_next.caches.quantization = m_next.quantization;
        }
        const auto& warnings = m_next.quantization->warnings;
        m_next.warnings.insert(m_next.warnings.end(), warnings.begin(), warnings.end());
        return {};
    }

    PlanOptions planOptions() const
    {
        return { KernelMode::Fast, ArithmeticProfile::Simulated, m_next.caches.lowered };
    }

    /// The files may have been given in the wrong order.
    void noteForms()
    {
        if (!m_next.floatModel || !m_next.quantModel)
            return;
        const QuantForm first = m_next.floatModel->quant->form();
        if (first != QuantForm::Float)
            m_next.warnings.push_back(m_next.inputs.floatPath + ": is quantized itself ("
                + std::string(quantFormName(first)) + ") and is taken as the reference; give the float model first");
        if (m_next.quantModel->quant->form() == QuantForm::Float)
            m_next.warnings.push_back(m_next.quantization ? "the recipe quantizes nothing of this model"
                                                          : m_next.inputs.quantPath
                        + ": has no quantization that is known here; give the quantized model second");
    }

    Status loadData()
    {
        if (m_next.inputs.data.spec.empty() || !m_next.floatModel)
            return {};
        if (sameSource() && m_previous->data) {
            m_next.data = m_previous->data;
            m_next.calibrationData = m_previous->calibrationData;
        } else {
            report("open data");
            QS_CHECK(findCarry(*m_next.floatModel->plan, m_next.inputs.carry));
            const auto specs = dataInputs(m_next.floatModel->graph(), m_next.inputs.carry);
            QS_TRY(m_next.data, openData(m_next.inputs.data, specs));
            if (!m_next.inputs.calibration.spec.empty()) {
                QS_TRY(m_next.calibrationData, openData(m_next.inputs.calibration, specs));
            }
        }
        for (const auto& data : { m_next.data, m_next.calibrationData })
            if (data)
                m_next.warnings.insert(m_next.warnings.end(), data->warnings().begin(), data->warnings().end());
        return {};
    }

    /// As the file says, else the model, else the data.
    Status nameClasses()
    {
        ClassNames names;
        if (!m_next.inputs.classNamesPath.empty()) {
            QS_TRY(names, readClassNames(m_next.inputs.classNamesPath));
        } else if (m_next.floatModel) {
            names = classNamesIn(m_next.floatModel->model->metadata);
        }
        if (names.empty() && m_next.data)
            names = m_next.data->classNames();
        if (m_previous && *m_previous->classNames == names)
            m_next.classNames = m_previous->classNames;
        else
            m_next.classNames = std::make_shared<const ClassNames>(std::move(names));
        return {};
    }

    Status match()
    {
        if (!m_next.floatModel || !m_next.quantModel || !m_next.inputs.compare)
            return {};
        if (m_cancel.cancelled())
            return cancelled();
        const bool same = m_previous && m_previous->alignment && m_previous->inputs.floatPath == m_next.inputs.floatPath
            && sameQuantized() && m_previous->inputs.mapPath == m_next.inputs.mapPath && m_next.inputs.mapPath.empty()
            && m_previous->inputs.links == m_next.inputs.links && sameSource() // values of samples pair what is left
            && m_previous->inputs.run == m_next.inputs.run;
        if (same) {
            m_next.alignment = m_previous->alignment;
            return {};
        }
        report("match");
        ManualLinks manual;
        if (!m_next.inputs.mapPath.empty()) {
            QS_TRY(manual, readManualLinks(m_next.inputs.mapPath));
        }
        const ManualLinks& links = m_next.inputs.links; // they come later, so they have the last word
        manual.pairs.insert(manual.pairs.end(), links.pairs.begin(), links.pairs.end());
        manual.apart.insert(manual.apart.end(), links.apart.begin(), links.apart.end());
        QS_CHECK(checkInterface());
        QS_TRY(m_next.alignment,
            align(*m_next.floatModel->plan, *m_next.quantModel->plan, *m_next.quantModel->quant, manual,
                m_next.quantization != nullptr));
        return matchNumbers();
    }

    /// What names and structure left single, by the values of two samples.
    Status matchNumbers()
    {
        Alignment& found = *m_next.alignment;
        if (!m_next.data || !m_next.inputs.run || !m_next.inputs.carry.empty() || found.unmatchedFloat.empty()
            || found.unmatchedQuant.empty())
            return {};
        std::vector<std::vector<Tensor>> samples;
        for (size_t i = 0; i < std::min<size_t>(m_next.data->feeds(), 2); ++i) {
            QS_TRY(Feed feed, m_next.data->feed(i));
            samples.push_back(std::move(feed.inputs));
        }
        const ComparePair pair { m_next.floatModel->plan, m_next.quantModel->plan, m_next.quantModel->quant,
            std::make_shared<const Alignment>(found) };
        pairByNumbers(pair, samples, memoryLimitOrDefault(m_next.inputs.memoryLimit), m_cancel, found);
        return m_cancel.cancelled() ? Status(cancelled()) : Status();
    }

    /// Both files must take the same data.
    Status checkInterface() const
    {
        const auto f = dataInputs(m_next.floatModel->graph(), m_next.inputs.carry);
        const auto q = dataInputs(m_next.quantModel->graph(), m_next.inputs.carry);
        const std::string remedy = "give the float model that this file was quantized from";
        if (f.size() != q.size())
            return badInput(
                "has " + std::to_string(q.size()) + " inputs, the float model has " + std::to_string(f.size()),
                m_next.inputs.quantPath, remedy);
        for (size_t i = 0; i < f.size(); ++i) {
            const auto named = std::ranges::find(q, f[i].name, &InputSpec::name);
            const InputSpec& other = named == q.end() ? q[i] : *named;
            if (!f[i].dims || !other.dims)
                continue;
            bool fits = f[i].dims->size() == other.dims->size();
            for (size_t d = 0; fits && d < f[i].dims->size(); ++d)
                fits = !(*f[i].dims)[d].known() || !(*other.dims)[d].known()
                    || (*f[i].dims)[d].value == (*other.dims)[d].value;
            if (!fits) {
                Issue issue = badInput("has shape " + dimsText(*other.dims) + ", but the float model's input has "
                        + dimsText(*f[i].dims) + ": it is another network",
                    m_next.inputs.quantPath, remedy);
                issue.tensor = other.name;
                return issue;
            }
        }
        return {};
    }

    Status compare()
    {
        if (!m_next.alignment || !m_next.data || !m_next.inputs.run)
            return {};
        CompareOptions options;
        options.threads = m_next.inputs.threads ? m_next.inputs.threads : hardwareThreads();
        options.nodeAlone = m_next.inputs.nodeAlone;
        options.histograms = m_next.inputs.histograms;
        options.carry = m_next.inputs.carry;
        const uint64_t limit = memoryLimitOrDefault(m_next.inputs.memoryLimit);
        options.memoryLimit = limit - std::min(m_next.inputs.activationCache, limit / 2);
        options.activations = m_next.caches.activations;
        options.pairs = m_next.caches.pairs;
        options.profile = m_next.inputs.profile;
        options.prove = !m_next.quantization; // what a recipe made is the same network
        const ComparePair pair = comparePairOf(m_next);
        if (m_cancel.cancelled()) // that plan may lack steps
            return cancelled();
        std::function<void(Comparison)> partial;
        if (m_partial)
            partial = [this](Comparison c) {
                Snapshot now = m_next;
                now.comparison = std::move(c);
                m_partial(std::make_shared<const Snapshot>(std::move(now)));
            };
        if (m_next.inputs.shard) {
            options.shard = *m_next.inputs.shard;
            QS_TRY(const auto measured, measureModels(pair, *m_next.data, options, m_progress, m_cancel, {}));
            auto weights = compareWeights(pair, options.histograms, options.threads);
            if (m_cancel.cancelled())
                return cancelled();
            m_next.comparison = summarize(pair, options.profile, *measured, m_next.data->labels(), std::move(weights));
            m_next.measured = measured;
        } else {
            QS_TRY(m_next.comparison, compareModels(pair, *m_next.data, options, m_progress, m_cancel, partial));
        }
        if (const auto warning = nonFiniteWarning(*m_next.comparison))
            m_next.warnings.push_back(*warning);
        return {};
    }

    /// The second quantized model over the same samples; what the first had run serves it, too.
    Status compareOther()
    {
        const OtherQuantized& other = m_next.inputs.other;
        if (!other.given() || !m_next.comparison)
            return {};
        Inputs inputs = withoutPairsAndOther(m_next.inputs);
        inputs.quantPath = other.path;
        inputs.recipe = other.recipe;
        inputs.histograms = inputs.nodeAlone = false;
        SnapshotPtr snapshot = m_previous && m_previous->other ? m_previous->other->snapshot : nullptr;
        const bool known = snapshot && sameInputs(snapshot->inputs, inputs) && snapshot->data == m_next.data
            && snapshot->floatModel->model == m_next.floatModel->model;
        if (!known) {
            Snapshot first;
            first.inputs = m_next.inputs;
            first.floatModel = m_next.floatModel;
            first.data = m_next.data;
            first.calibrationData = m_next.calibrationData;
            first.caches = m_next.caches;
            QS_TRY(snapshot,
                buildSnapshot(inputs, std::make_shared<const Snapshot>(std::move(first)), m_progress, m_cancel));
        }
        auto found = std::make_shared<OtherComparison>();
        found->differences = parameterDifferences(*m_next.comparison, *snapshot->comparison);
        found->snapshot = std::move(snapshot);
        m_next.other = std::move(found);
        return {};
    }

    SnapshotPtr m_previous;
    const ProgressFn& m_progress;
    const CancelToken& m_cancel;
    const PartialFn& m_partial;
    Snapshot m_next;
};

} // namespace

Result<LoadedModel> loadModel(const std::string& path, const PlanOptions& options)
{
    QS_TRY(const auto model, importModel(path));
    return loadedModel(model, options);
}

LoadedModel loadedModel(std::shared_ptr<const Model> model, const PlanOptions& options)
{
    LoadedModel loaded;
    loaded.model = std::move(model);
    loaded.plan = Plan::make(loaded.model, options);
    const auto plan = loaded.plan;
    loaded.quant = std::make_shared<const QuantView>(
        QuantView::of(loaded.model->graph, [plan](ValueId id) { return plan->constant(id); }));
    return loaded;
}

std::optional<std::string> nonFiniteWarning(const Comparison& c)
{
    const auto spoiled = [](const ActivationRow& row) { return row.accumulated.nonFinite > 0; };
    const auto first = std::ranges::find_if(c.activations, spoiled);
    if (first == c.activations.end())
        return std::nullopt;
    return "tensor '" + first->name
        + "' has values that are not finite (NaN or infinity): " + std::to_string(first->accumulated.nonFinite)
        + " of them, and " + std::to_string(std::ranges::count_if(c.activations, spoiled) - 1)
        + " other tensors have some, too; all numbers leave them out; check the data";
}

ComparePair comparePairOf(const Snapshot& s)
{
    ComparePair pair { s.floatModel->plan, s.quantModel->plan, s.quantModel->quant,
        std::make_shared<const Alignment>(*s.alignment) };
    if (s.inputs.profile != ArithmeticProfile::Simulated) {
        pair.writtenPlan = pair.quantPlan;
        pair.quantPlan = Plan::make(s.quantModel->model, { KernelMode::Fast, s.inputs.profile, s.caches.lowered });
    }
    return pair;
}

FoldedConstants foldedConstantsOf(const Snapshot& s)
{
    return FoldedConstants(s.floatModel->plan, *s.quantModel->plan, s.alignment->weights);
}

std::vector<InputSpec> dataInputs(const Graph& graph, const std::vector<std::pair<std::string, std::string>>& carry)
{
    std::vector<InputSpec> specs;
    for (ValueId id : graph.inputs()) {
        const Value& v = graph.value(id);
        if (std::ranges::any_of(carry, [&](const auto& c) { return c.second == v.name; }))
            continue;
        specs.push_back({ v.name, v.type.dtype, v.type.dims });
    }
    return specs;
}

Result<SnapshotPtr> buildSnapshot(const Inputs& inputs, const SnapshotPtr& previous, const ProgressFn& progress,
    const CancelToken& cancel, const PartialFn& partial)
{
    return Builder(inputs, previous, progress, cancel, partial).run();
}

Result<SnapshotPtr> buildSnapshot(
    const Inputs& inputs, const SnapshotPtr& previous, const ProgressFn& progress, const CancelToken& cancel)
{
    return buildSnapshot(inputs, previous, progress, cancel, {});
}

} // namespace qs
