// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/search/tried_remedies.h"

#include "core/base/issue_text.h"
#include "core/project/search/change_kinds.h"
#include "core/project/search/remedy_search.h"
#include "core/project/search/remedy_sentence.h"
#include "core/project/search/remedy_verdict.h"
#include "core/project/search/single_choice.h"
#include "core/quant/recipe/recipe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

using Changes = std::vector<Remedy>;

/// Quantizers stand among values in float16.
bool hasHalfValues(const LoadedModel& model)
{
    return std::ranges::any_of(model.quant->quantizers(), [&](const Quantizer& q) {
        return q.role == QuantRole::Activation && q.real.valid()
            && model.plan->facts().of(q.real).dtype == DType::Float16;
    });
}

constexpr double kGoodDb = 20; ///< at the output: what hardly matters there is a note
constexpr double kMendedDb = 35, kMendingDb = 3; ///< at the output, and gained: nothing else is hidden
constexpr size_t kFewestMore = 16; ///< trials of a search

/// Of what the file holds or computes: nothing else than its own remedy mends it.
bool isOfStored(const Finding& f)
{
    const bool scales = f.rule == Rule::WeightsTooCoarse && f.change.kind == RemedyKind::Requantize;
    return f.rule == Rule::WeightsDiffer || f.rule == Rule::ModelsDiffer || f.rule == Rule::WrongBiasScale || scales;
}

/// Costs nothing in the run that measures: kernels on whole numbers alone compute something else.
bool isForKernels(const Finding& f) { return f.rule == Rule::WrongBiasScale && f.cause == "own_scale"; }

/// The cause stays: it lies in a weight, and ranges alone change, or the other way round; or in more weights than those
/// of nodes that are left in float.
bool leavesCause(const Finding& f, const Changes& changes)
{
    const bool nodes = std::ranges::all_of(changes, [](const Remedy& r) { return r.kind == RemedyKind::ExcludeNode; });
    if (f.rule == Rule::ChannelImbalance && nodes && f.places.size() > changes.size())
        return true;
    const bool weight = f.rule == Rule::WeightsTooCoarse || f.rule == Rule::ChannelImbalance;
    return weight ? ofActivationsAlone(changes) : f.change.kind == RemedyKind::SetRange && ofWeightsAlone(changes);
}

/// Its own remedy mends the cause and gains nearly as much as one that leaves it.
bool keepsCloser(const Finding& f, double otherDb)
{
    return f.measuredGainDb && helps(f) && otherDb < *f.measuredGainDb + GainLimits::closerDb;
}

/// What is said beside a remedy that leaves the cause, before that is set.
std::string leftText(const Finding& f)
{
    const std::string own = f.measuredGainDb
        ? fmt::format("; to {} alone {}", remedyPhrase(triedChanges(f)), gainText(f))
        : std::string();
    return fmt::format(" That does not mend what is told here{}.", own);
}

/// What is said of a remedy that finds ranges anew and does more: what finding them anew gains alone. Nothing where
/// that is not known, or is no gain and was not the finding's own.
std::string besideRanges(const Finding& f, const RemedyTrials& trials, const Changes& changes)
{
    const Changes anew { { RemedyKind::Recalibrate, {}, {}, 0, 0, 0 } };
    const Trial* ranges = trials.known(anew);
    Finding alone;
    alone.remedy = remedySentence(anew);
    if (f.change.kind == RemedyKind::Recalibrate && f.measuredGainDb)
        alone = f;
    else if (ranges && ranges->gainDb.value_or(0) >= GainLimits::worthDb)
        take(alone, *ranges);
    else
        return {};
    return fmt::format("{} That alone {}; also {}.", alone.remedy, gainText(alone), remedyPhrase(changes));
}

/// Beside looking for what differs: the file that the float model makes has none of it.
void quantizeAnew(Finding& f)
{
    if (!helps(f)) {
        keepAsAdvice(f);
        return;
    }
    f.remedy = "Quantize the float model anew, as this file was. " + f.remedy;
}

/// What it cuts off may be rare, and the others need fine steps.
bool ofInput(const Finding& f) { return f.rule == Rule::InputMismatch; }
bool ofRange(const Finding& f) { return f.rule == Rule::RangeTooSmall || f.rule == Rule::RangeTooLarge; }

/// What is stored wrong is mended by itself where that helps, whatever gains more beside it.
bool keepsOwn(const Finding& f, size_t more) { return more > 0 && isOfStored(f) && f.measuredGainDb && helps(f); }

/// Scales a channel that bring back so much, or samples that were lost, are no mere note, however good each weight is.
void raiseScales(std::vector<Finding>& findings, const Number& beforeDb)
{
    const bool poor = beforeDb.value_or(kMendedDb) < kMendedDb;
    const bool lost = std::ranges::any_of(
        findings, [](const Finding& f) { return f.rule == Rule::AccuracyDrop && f.severity != Severity::Note; });
    for (Finding& f : findings) {
        const bool samples = lost && f.measuredAccuracyGain.value_or(0) >= GainLimits::harmfulPoints;
        if (f.rule == Rule::ChannelImbalance && f.severity == Severity::Note && f.change.kind != RemedyKind::None
            && poor && (f.measuredGainDb.value_or(0) >= GainLimits::closerDb || samples))
            f.severity = Severity::Warning;
    }
}

/// The part of it that gains at least half of it alone; null: none does, since the causes hide each other.
const Changes* mostOf(const Changes& best, const std::vector<Changes>& single, const RemedyTrials& trials)
{
    const auto gain = [&](const Changes& c) { return trials.known(c)->gainDb.value_or(0); };
    const auto isPart = [&](const Changes& c) {
        return std::ranges::all_of(c, [&](const Remedy& r) { return std::ranges::find(best, r) != best.end(); });
    };
    const Changes* most = nullptr;
    for (const Changes& c : single)
        if (isPart(c) && 2 * gain(c) >= gain(best) && (!most || gain(c) > gain(*most)))
            most = &c;
    return most;
}

/// The findings of a snapshot whose remedies are tried.
class Findings {
public:
    Findings(std::vector<Finding>& findings, RemedyTrials& trials)
        : m_all(findings)
        , m_trials(trials)
    {
    }

    Status trySingle(const Comparison& comparison, size_t most)
    {
        for (size_t i = 0; i < m_all.size() && m_tried.size() < most; ++i)
            if (canBeTried(m_all[i])) {
                m_tried.push_back(i);
                m_single.push_back(triedChanges(m_all[i]));
            }
        QS_CHECK(m_trials.measure(m_single, m_single.size()));
        for (size_t k = 0; k < m_tried.size(); ++k) {
            Finding& f = m_all[m_tried[k]];
            QS_TRY(const Changes best, bestAlone(m_trials, comparison, f, m_single[k], most));
            putBestPlaceFirst(m_trials, comparison, f);
            if (best != m_single[k])
                setChanges(f, best);
            m_single[k] = best;
            take(f, *m_trials.known(best));
        }
        return {};
    }

    /// Something is wrong, and no single remedy mends it.
    bool goesOn() const
    {
        const auto is = [&](Rule rule) { return [rule](const Finding& f) { return f.rule == rule; }; };
        if (std::ranges::any_of(m_all, is(Rule::ModelsDiffer)))
            return false; // nothing that is measured can be trusted
        const bool wrong = std::ranges::any_of(m_all, [&](const Finding& f) {
            const bool trained = is(Rule::WeightsDiffer)(f) && f.change.kind == RemedyKind::None;
            return (f.severity != Severity::Note && !trained) || f.measuredGainDb >= kMendingDb;
        });
        const bool mended = std::ranges::any_of(m_all, [&](const Finding& f) {
            return f.measuredGainDb >= kMendingDb && *m_trials.before() + *f.measuredGainDb >= kMendedDb;
        });
        return wrong && !mended;
    }

    Status tryTogether(const Comparison& comparison, size_t most)
    {
        QS_TRY(const Changes best, searchTogether(m_trials, comparison, m_single, most));
        if (!best.empty())
            give(best);
        return {};
    }

    /// A set of calibration data costs what other ranges would gain; that alone makes a warning of it.
    Status judgeCalibration()
    {
        const auto f = std::ranges::find(m_all, Rule::CalibrationSet, &Finding::rule);
        if (f == m_all.end() || m_trials.before().value_or(0) >= kMendedDb)
            return {};
        QS_TRY(const std::optional<Trial> trial, m_trials.calibratedAsJudged());
        if (!trial || !trial->gainDb)
            return {};
        take(*f, *trial);
        f->evidence.push_back(evidence("calibration_cost_db", *trial->gainDb, "dB"));
        if (*trial->gainDb <= GainLimits::costlyDb)
            return {};
        f->severity = Severity::Warning;
        f->summary += fmt::format(" With ranges of the samples that judge, the output would have {:.1f} dB in place "
                                  "of {:.1f}.",
            *m_trials.before() + *trial->gainDb, *m_trials.before());
        return {};
    }

    void judge()
    {
        for (const size_t i : m_tried) {
            Finding& f = m_all[i];
            if (!f.measuredGainDb) {
                refuseFusion(f);
                refuseUnmade(f);
                continue;
            }
            if (isForKernels(f) && !harms(f) && !helps(f)) {
                keepAsAdvice(f);
            } else if (f.rule == Rule::ModelsDiffer) { // what is measured is another file
                quantizeAnew(f);
            } else if (helps(f)) {
                offer(f);
                f.remedy += m_trials.arithmeticText(triedChanges(f));
            } else {
                const Changes own = triedChanges(f);
                const bool elsewhere = std::ranges::any_of(
                    own, [&](const Remedy& r) { return std::ranges::find(m_given, r) != m_given.end(); });
                withdraw(f, elsewhere);
                if (m_trials.saturates(own))
                    f.remedy += m_trials.arithmeticText(own);
                if (!elsewhere)
                    calm(f);
            }
        }
        raise();
        raiseScales(m_all, m_trials.before());
        std::erase_if(m_all, refuted);
        std::ranges::stable_sort(m_all, {}, &Finding::severity);
        sortTried(m_all);
    }

private:
    /// The finding that tells of a cause that this mends, most telling first, gets all of it as its remedy.
    void give(const Changes& best)
    {
        const auto mends = [&](size_t k) {
            return std::ranges::any_of(
                m_single[k], [&](const Remedy& r) { return std::ranges::find(best, r) != best.end(); });
        };
        const size_t none = m_tried.size();
        size_t chosen = none;
        for (size_t k = 0; k < m_tried.size() && chosen == none; ++k)
            if (mends(k) && !keepsOwn(m_all[m_tried[k]], best.size() - m_single[k].size()))
                chosen = k;
        const bool oneNode = chosen == none && leavesOneNode(best);
        if (oneNode)
            chosen = aboutNode(best.front().node);
        if (oneNode && chosen == none)
            return;
        if (const size_t other = firstOther(); chosen == none && other < none)
            chosen = other; // about another part of the model, or about the whole of it
        if (chosen == none && ofAllRanges(best))
            chosen = ofRanges();
        size_t at = chosen == none ? m_all.size() : m_tried[chosen];
        for (size_t i = 0; i < m_all.size() && at == m_all.size(); ++i)
            if (m_all[i].severity != Severity::Note && m_all[i].change.kind == RemedyKind::None)
                at = i; // of which no recipe can mend the cause
        if (at == m_all.size())
            return;
        Finding& f = m_all[at];
        const bool leaves = leavesCause(f, best);
        if (leaves && keepsCloser(f, *m_trials.known(best)->gainDb))
            return;
        if (harms(taken(f, *m_trials.known(best)))) // nor is it offered by anything else
            return;
        const std::string left = leaves ? leftText(f) : std::string();
        m_given = best;
        const std::string own = recalibratesToo(best) ? besideRanges(f, m_trials, best) : std::string();
        take(f, *m_trials.known(best));
        const Changes* most = mostOf(best, m_single, m_trials);
        setChanges(f, best, !most);
        if (!own.empty())
            f.remedy = own;
        else if (most && *most != best)
            f.remedy += fmt::format(
                " To {} alone gains {:.1f} dB at the output.", remedyPhrase(*most), *m_trials.known(*most)->gainDb);
        f.remedy += left;
        f.expectedGainDb = f.measuredGainDb;
        if (chosen == none)
            m_tried.push_back(at);
    }

    /// The first that tells of the node, and no mere note; all that were tried: none does.
    size_t aboutNode(const std::string& node) const
    {
        const auto is = [&](const FindingPlace& p) { return p.node == node; };
        for (size_t k = 0; k < m_tried.size(); ++k)
            if (const Finding& f = m_all[m_tried[k]]; f.severity != Severity::Note) {
                const auto places = placesOf(f);
                if (std::ranges::any_of(places, is))
                    return k;
            }
        return m_tried.size();
    }

    /// The first that may have a part in anything, if it is no mere note; all that were tried: there is none.
    size_t firstOther() const
    {
        for (size_t k = 0; k < m_tried.size(); ++k)
            if (const Finding& f = m_all[m_tried[k]]; !isOfStored(f))
                return f.severity == Severity::Note ? m_tried.size() : k;
        return m_tried.size();
    }

    /// The one that tells of most wrong ranges; all that were tried: none does.
    size_t ofRanges() const
    {
        size_t chosen = m_tried.size();
        for (size_t k = 0; k < m_tried.size(); ++k) {
            const Finding& f = m_all[m_tried[k]];
            if (ofRange(f) && (chosen == m_tried.size() || f.places.size() > m_all[m_tried[chosen]].places.size()))
                chosen = k;
        }
        return chosen;
    }

    /// In a form that cannot be changed so, where no recipe comes close to it.
    void refuseFusion(Finding& f)
    {
        if (f.change.kind != RemedyKind::FuseGemm || !m_trials.inFile() || m_trials.byRecipe())
            return;
        takeBack(f);
        f.remedy += " This file cannot be changed so, since the product has no pair of QuantizeLinear and "
                    "DequantizeLinear that could be taken out: quantize the float model with --preparation "
                    "+fuse_gemm.";
    }

    /// The recipe with the change quantizes nothing, so that its command would not, either.
    void refuseUnmade(Finding& f)
    {
        if (!m_trials.byRecipe() || m_trials.inFile() || f.change.kind == RemedyKind::None)
            return;
        takeBack(f);
        f.remedy = "Not offered, since it cannot be made of this recipe: " + f.remedy;
    }

    /// Where single ranges alone are worth a warning, what gains far more than each of them is worth no less.
    void raise()
    {
        Severity worst = Severity::Note;
        double most = 0;
        for (const Finding& f : m_all)
            if (f.severity != Severity::Note) {
                if (!ofRange(f) && !(f.rule == Rule::WrongZeroPoint && f.change.kind == RemedyKind::SetRange))
                    return;
                worst = std::min(worst, f.severity);
                most = std::max(most, f.measuredGainDb.value_or(0));
            }
        for (const size_t i : m_tried)
            if (m_all[i].change.kind != RemedyKind::None
                && m_all[i].measuredGainDb.value_or(0) >= most + GainLimits::closerDb)
                m_all[i].severity = worst;
    }

    /// A cause whose removal changes nothing at a good output is worth a note.
    void calm(Finding& f)
    {
        const bool ofScale = f.rule == Rule::ScaleMismatchAtJoin
            && f.measuredTop1Gain.value_or(0) < GainLimits::harmfulPoints
            && f.measuredAccuracyGain.value_or(0) < GainLimits::harmfulPoints;
        if ((ofRange(f) || ofInput(f) || ofScale || f.rule == Rule::ActivationLost)
            && m_trials.before().value_or(0) >= kGoodDb && *f.measuredGainDb < GainLimits::worthDb)
            f.severity = Severity::Note;
    }

    std::vector<Finding>& m_all;
    RemedyTrials& m_trials;
    std::vector<size_t> m_tried; ///< indices
    std::vector<Changes> m_single; ///< of these
    Changes m_given; ///< of several causes, by the finding that has them
};

/// Gives activations other scales, for which biases are quantized anew.
bool rewritesBiases(const Remedy& r)
{
    return r.kind == RemedyKind::AsymmetricActivations || r.kind == RemedyKind::Recalibrate
        || r.kind == RemedyKind::Calibrate || r.kind == RemedyKind::UnsignedActivations
        || r.kind == RemedyKind::ActivationType;
}

/// A bias that is wrong by itself is mended by what quantizes it anew on the way: that gain is not the other cause's.
void tellMendedBiases(std::vector<Finding>& found)
{
    const auto bias = std::ranges::find_if(found, [](const Finding& f) {
        return f.rule == Rule::WrongBiasScale && f.measuredGainDb.value_or(0) >= GainLimits::worthDb;
    });
    if (bias == found.end())
        return;
    const std::string which
        = bias->places.size() > 1 ? fmt::format("{} biases", bias->places.size()) : "the bias of " + bias->node;
    for (Finding& f : found)
        if (f.rule != Rule::WrongBiasScale && !f.triedInFile && f.measuredGainDb.value_or(0) > *bias->measuredGainDb
            && std::ranges::any_of(triedChanges(f), rewritesBiases))
            f.remedy += fmt::format(
                " It quantizes {} anew, too, which alone gains {:.1f} dB.", which, *bias->measuredGainDb);
}

} // namespace

bool canBeTried(const Finding& finding)
{
    // Another form would gain what new ranges do.
    const bool formAlone = finding.change.kind == RemedyKind::Requantize
        && (finding.severity == Severity::Note || finding.rule == Rule::RuntimeRejects);
    return finding.change.kind != RemedyKind::None && !formAlone;
}

Result<SnapshotPtr> withTriedRemedies(
    const SnapshotPtr& snapshot, size_t most, const ProgressFn& progress, const CancelToken& cancel, size_t threads)
{
    if (most == 0 || !snapshot->comparison || snapshot->inputs.shard)
        return snapshot;
    auto next = std::make_shared<Snapshot>(*snapshot);
    std::vector<Finding>& found = next->comparison->findings;
    const bool wrong = std::ranges::any_of(found, [](const Finding& f) { return f.severity != Severity::Note; });
    const bool calibrated = snapshot->calibrationData
        && std::ranges::any_of(found, [](const Finding& f) { return f.rule == Rule::CalibrationSet; });
    if (!wrong && !calibrated && std::ranges::none_of(found, canBeTried))
        return snapshot;
    auto trials = RemedyTrials::make(snapshot, progress, cancel, threads);
    if (!trials.ok() && trials.issue().kind == IssueKind::Cancelled)
        return trials.issue();
    if (!trials.ok()) {
        next->warnings.push_back("remedies were not tried: " + issueText(trials.issue()));
        return SnapshotPtr(std::move(next));
    }
    Findings findings(found, *trials);
    QS_CHECK(findings.trySingle(*snapshot->comparison, most));
    if (findings.goesOn())
        QS_CHECK(findings.tryTogether(*snapshot->comparison, std::max(most, kFewestMore)));
    QS_CHECK(findings.judgeCalibration());
    findings.judge();
    tellMendedBiases(found);
    next->comparison->trials = RemedyTrialNote { trials->tried(), most, trials->inFile() };
    if (hasHalfValues(*snapshot->quantModel))
        next->warnings.push_back("gains of remedies are measured with every float16 value rounded; ONNX Runtime on a "
                                 "CPU does not round between two nodes that it computes in float32, so they may differ "
                                 "there");
    return SnapshotPtr(std::move(next));
}

Result<GraphDraft> mendedModel(const SnapshotPtr& tried, size_t number, const CancelToken& cancel)
{
    size_t offered = 0;
    if (tried->comparison)
        for (const Finding& f : tried->comparison->findings)
            if (isOffered(f) && ++offered == number) {
                QS_TRY(RemedyTrials trials, RemedyTrials::make(tried, {}, cancel));
                return trials.draftOf(triedChanges(f));
            }
    if (offered > 0)
        return badUse(fmt::format("--mend {} is too much: {} remedies help at the output", number, offered),
            "give a number from 1 on");
    return badInput("no remedy was found that helps at the output", tried->inputs.quantPath,
        "try more of them, or quantize the float model by another recipe");
}

} // namespace qs
