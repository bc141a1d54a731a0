// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/search/tried_remedies.h"

#include "core/base/work/memory.h"
#include "core/project/snapshot/build_snapshot.h"
#include "core/project/snapshot/quantized_example.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace qs {

namespace {

constexpr double kSameDb = 3; ///< at the output: a recipe makes what the file is, but for how it rounds

/// SQNR of the worst output; nothing where all are exact.
Number outputDb(const Comparison& c)
{
    Number worst;
    for (const OutputRow& out : c.outputs)
        if (out.similarity.sqnrDb && (!worst || *out.similarity.sqnrDb < *worst))
            worst = out.similarity.sqnrDb;
    return worst;
}

struct BaseRecipe {
    Recipe fresh; ///< finds its ranges anew
    Recipe as; ///< makes what the file is
};

/// What may have made the quantized model; nothing where that cannot be told.
std::optional<BaseRecipe> baseRecipe(const Snapshot& s)
{
    if (s.inputs.recipe)
        return BaseRecipe { *s.inputs.recipe, *s.inputs.recipe };
    const auto back = readExample(s);
    return back.ok() ? std::optional(BaseRecipe { back->recipe, recipeWithRanges(*back) }) : std::nullopt;
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

class RemedyTrials {
public:
    RemedyTrials(const SnapshotPtr& snapshot, const CancelToken& cancel)
        : m_last(snapshot)
        , m_draft(snapshot->floatModel->draft)
        , m_before(outputDb(*snapshot->comparison))
        , m_cancel(cancel)
    {
        m_inputs = snapshot->inputs;
        m_inputs.other = {};
        m_inputs.histograms = m_inputs.nodeAlone = false;
        m_inputs.activationCache = memoryLimitOrDefault(m_inputs.memoryLimit) / 4;
    }

    /// Why the recipe does not stand for the quantized model; nothing where it does, by its output.
    Result<std::optional<std::string>> takeBase(BaseRecipe recipe)
    {
        m_base = std::move(recipe);
        if (m_inputs.recipe) // it made the model
            return std::optional<std::string>();
        const Number file = m_before;
        QS_TRY(m_before, outputOf(m_base.as));
        const auto text = [](const Number& db) { return db ? fmt::format("{:.1f} dB", *db) : std::string("no SQNR"); };
        if (file && m_before && std::abs(*file - *m_before) <= kSameDb)
            return std::optional<std::string>();
        return std::optional(fmt::format("remedies were not tried: quantizing the float model as the file shows gives "
                                         "{} at the output where the file has {}, so its weights were trained or "
                                         "rounded otherwise; compare a model that a recipe makes (--recipe)",
            text(m_before), text(file)));
    }

    /// dB gained; nothing where it cannot be tried.
    Result<Number> gain(const std::vector<Remedy>& changes)
    {
        if (const auto known = std::ranges::find(m_known, changes, &Tried::changes); known != m_known.end())
            return known->gain;
        const bool anew = changes.front().kind == RemedyKind::Requantize;
        QS_TRY(const Number after, outputOf(anew ? m_base.fresh : withRemedies(m_base.as, changes, *m_draft)));
        m_known.push_back({ changes, after && m_before ? Number(*after - *m_before) : Number() });
        return m_known.back().gain;
    }

private:
    /// SQNR of the output; nothing where the recipe fails.
    Result<Number> outputOf(const Recipe& recipe)
    {
        const auto tried = buildSnapshot(byRecipe(m_inputs, recipe), m_last, {}, m_cancel);
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
    const CancelToken& m_cancel;
    Inputs m_inputs;
    struct Tried {
        std::vector<Remedy> changes;
        Number gain;
    };
    std::vector<Tried> m_known;
};

} // namespace

bool canBeTried(const Finding& finding)
{
    // Another form would gain what new ranges do.
    const bool formAlone = finding.change.kind == RemedyKind::Requantize && finding.severity == Severity::Note;
    return finding.change.kind != RemedyKind::None && !formAlone;
}

Result<SnapshotPtr> withTriedRemedies(
    const SnapshotPtr& snapshot, size_t most, const ProgressFn& progress, const CancelToken& cancel)
{
    if (most == 0 || !snapshot->comparison || snapshot->inputs.shard)
        return snapshot;
    RemedyTrials trials(snapshot, cancel);
    auto next = std::make_shared<Snapshot>(*snapshot);
    const auto base = baseRecipe(*snapshot);
    if (!base) {
        next->warnings.push_back("remedies were not tried: the file does not show how it was quantized");
        return SnapshotPtr(std::move(next));
    }
    QS_TRY(const auto unlike, trials.takeBase(*base));
    if (unlike) {
        next->warnings.push_back(*unlike);
        return SnapshotPtr(std::move(next));
    }
    std::vector<Finding>& findings = next->comparison->findings;
    const size_t all = std::min(most, size_t(std::ranges::count_if(findings, canBeTried)));
    size_t tried = 0;
    for (Finding& f : findings) {
        if (!canBeTried(f))
            continue;
        if (tried == all)
            break;
        if (progress)
            progress("try remedies", tried, all);
        ++tried;
        QS_TRY(f.measuredGainDb, trials.gain(changesOf(f)));
    }
    sortTried(next->comparison->findings);
    return SnapshotPtr(std::move(next));
}

} // namespace qs
