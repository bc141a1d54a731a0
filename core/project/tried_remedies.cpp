// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/tried_remedies.h"

#include "core/project/memory.h"
#include "core/project/quantized_example.h"
#include "core/project/same_inputs.h"
#include "core/project/workspace.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace qs {

namespace {

constexpr double kSameDb = 0.5; ///< at the output: a recipe makes what the file is

/// SQNR of the worst output; nothing where all are exact.
Number outputDb(const Comparison& c)
{
    Number worst;
    for (const OutputRow& out : c.outputs)
        if (out.similarity.sqnrDb && (!worst || *out.similarity.sqnrDb < *worst))
            worst = out.similarity.sqnrDb;
    return worst;
}

/// Float names of values that the quantized file calls otherwise.
ValueNames floatNames(const Snapshot& s)
{
    ValueNames names;
    const Graph &f = s.floatModel->graph(), &q = s.quantModel->graph();
    for (const ValuePair& pair : s.alignment->values) {
        const std::string& name = f.value(pair.floatValue).name;
        names.try_emplace(q.value(pair.quantValue).name, name);
        if (!pair.quantizer)
            continue;
        const Quantizer& quantizer = s.quantModel->quant->quantizers()[*pair.quantizer];
        for (const ValueId id : { quantizer.real, quantizer.codes, quantizer.dequantized })
            if (id.valid())
                names.try_emplace(q.value(id).name, name);
    }
    return names;
}

struct BaseRecipe {
    Recipe fresh; ///< finds its ranges anew
    Recipe as; ///< makes what the file is
};

/// What may have made the quantized model, most likely first.
std::vector<BaseRecipe> baseRecipes(const Snapshot& s)
{
    if (s.inputs.recipe)
        return { { *s.inputs.recipe, *s.inputs.recipe } };
    std::vector<BaseRecipe> recipes;
    for (const auto& back : { readExample(s.floatModel->model, s.quantModel->model),
             readBack(s.quantModel->model, s.floatModel->draft.get(), floatNames(s)) })
        if (back.ok())
            recipes.push_back({ back->recipe, recipeWithRanges(*back) });
    return recipes;
}

/// Those that were tried change places with each other within a severity: the largest gain first.
void sortTried(std::vector<Finding>& findings)
{
    for (const Severity severity : { Severity::Error, Severity::Warning, Severity::Note }) {
        std::vector<size_t> places;
        std::vector<Finding> tried;
        for (size_t i = 0; i < findings.size(); ++i)
            if (findings[i].severity == severity && findings[i].measuredGainDb) {
                places.push_back(i);
                tried.push_back(findings[i]);
            }
        std::ranges::stable_sort(
            tried, [](const Finding& a, const Finding& b) { return *a.measuredGainDb > *b.measuredGainDb; });
        for (size_t i = 0; i < places.size(); ++i)
            findings[places[i]] = std::move(tried[i]);
    }
}

auto changeKey(const Remedy& r) { return std::tuple(r.kind, r.node, r.tensor, r.low, r.high, r.axis); }

class RemedyTrials {
public:
    RemedyTrials(const SnapshotPtr& snapshot, const ProgressFn& progress, const CancelToken& cancel)
        : m_last(snapshot)
        , m_draft(snapshot->floatModel->draft)
        , m_before(outputDb(*snapshot->comparison))
        , m_progress(progress)
        , m_cancel(cancel)
    {
        m_inputs = withoutPairsAndOther(snapshot->inputs);
        m_inputs.quantPath.clear();
        m_inputs.histograms = m_inputs.nodeAlone = false;
        m_inputs.activationCache = memoryLimitOrDefault(m_inputs.memoryLimit) / 4;
    }

    /// Takes the first recipe that makes what the quantized model is, by its output; false where none does.
    Result<bool> findBase(std::vector<BaseRecipe> recipes)
    {
        for (BaseRecipe& recipe : recipes) {
            m_base = std::move(recipe);
            if (m_inputs.recipe) // it made the model
                return true;
            QS_TRY(const Number db, outputOf(m_base.as));
            m_inputs.recipe.reset();
            if (db && m_before && std::abs(*db - *m_before) <= kSameDb)
                return true;
        }
        return false;
    }

    /// dB gained; nothing where it cannot be tried.
    Result<Number> gain(const Remedy& change)
    {
        const auto key = changeKey(change);
        if (const auto known = m_known.find(key); known != m_known.end())
            return known->second;
        QS_TRY(const Number after,
            outputOf(change.kind == RemedyKind::Requantize ? m_base.fresh : withRemedy(m_base.as, change, *m_draft)));
        const Number gained = after && m_before ? Number(*after - *m_before) : Number();
        m_known.emplace(key, gained);
        return gained;
    }

private:
    /// SQNR of the output; nothing where the recipe fails.
    Result<Number> outputOf(Recipe recipe)
    {
        m_inputs.recipe = std::move(recipe);
        const auto tried = buildSnapshot(m_inputs, m_last, m_progress, m_cancel);
        if (m_cancel.cancelled())
            return cancelled();
        if (!tried.ok() || !(*tried)->comparison)
            return Number();
        m_last = *tried;
        return outputDb(*m_last->comparison);
    }

    SnapshotPtr m_last; ///< its float model, data and caches serve the next one
    BaseRecipe m_base;
    std::shared_ptr<const GraphDraft> m_draft;
    Number m_before;
    const ProgressFn& m_progress;
    const CancelToken& m_cancel;
    Inputs m_inputs;
    std::map<decltype(changeKey({})), Number> m_known;
};

} // namespace

Result<SnapshotPtr> withTriedRemedies(
    const SnapshotPtr& snapshot, size_t most, const ProgressFn& progress, const CancelToken& cancel)
{
    if (most == 0 || !snapshot->comparison || snapshot->inputs.shard)
        return snapshot;
    RemedyTrials trials(snapshot, progress, cancel);
    QS_TRY(const bool known, trials.findBase(baseRecipes(*snapshot)));
    if (!known)
        return snapshot;
    auto next = std::make_shared<Snapshot>(*snapshot);
    size_t tried = 0;
    for (Finding& f : next->comparison->findings) {
        if (f.change.kind == RemedyKind::None)
            continue;
        if (tried++ == most)
            break;
        QS_TRY(f.measuredGainDb, trials.gain(f.change));
    }
    sortTried(next->comparison->findings);
    return SnapshotPtr(std::move(next));
}

} // namespace qs
