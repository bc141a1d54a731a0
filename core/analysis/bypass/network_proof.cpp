// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/bypass/network_proof.h"

#include "core/analysis/bypass/bypass.h"
#include "core/analysis/bypass/explained.h"
#include "core/analysis/bypass/network_run.h"
#include "core/analysis/bypass/proof_distances.h"
#include "core/analysis/bypass/rounded_weights.h"
#include "core/analysis/bypass/stored_weights.h"
#include "core/analysis/bypass/twin_constants.h"
#include "core/analysis/pairs/masked_values.h"
#include "core/analysis/rounding/attribute_differences.h"
#include "core/analysis/rounding/function_differences.h"
#include "core/analysis/rounding/leading_values.h"
#include "core/analysis/rounding/relative_distance.h"
#include "core/base/issue_text.h"
#include "core/base/work/parallel.h"
#include "core/graph/handed_on.h"
#include "core/tensor/convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace qs {

namespace {

constexpr double kRoomOfCaches = 2; ///< rounding moves caches by so many times of what it moves a result by
constexpr double kNoRounding = 0.5; ///< part of an output that no rounding of a type makes by itself

/// Compares two networks on one sample after the other.
class NetworkComparer {
public:
    NetworkComparer(TwoNetworks networks, const ComparePair& pair, const std::vector<PairPlan>& pairs,
        const PrecisionStep& step, const WorkContext& work)
        : m_two(std::move(networks))
        , m_pair(pair)
        , m_pairs(pairs)
        , m_step(step)
        , m_work(work)
    {
    }

    /// What else may be between them, relatively, beside rounding to their precision; `hides`: what is within that may
    /// be anything.
    void allow(double room, bool hides = true)
    {
        m_room = room;
        m_hides = hides;
    }

    /// On the one that tells most. Behind the first that shows other networks, outputs alone are asked which shows
    /// more.
    Result<NetworkDistance> compare(const std::vector<ProofSample>& samples)
    {
        std::optional<NetworkDistance> told;
        std::vector<uint64_t> silent;
        size_t next = 0;
        while (next < samples.size() && !(told && told->apart() && !told->overflow)) {
            const ProofSample& sample = samples[next++];
            auto found = compare(sample);
            if (!found.ok() && (!told || m_work.cancel.cancelled()))
                return found;
            if (found.ok() && found->hiddenByRounding())
                silent.push_back(sample.number);
            if (found.ok() && (!told || tellsMoreOfSamples(*found, *told)))
                told = std::move(found).value();
        }
        if (const ProofSample* more = showsMore(samples, next, *told))
            if (auto found = compare(*more); found.ok() && found->apart() && !found->overflow)
                told = std::move(found).value();
        if (!told->hiddenByRounding())
            told->silent = std::move(silent);
        return *told;
    }

    Result<NetworkDistance> compare(const ProofSample& sample)
    {
        m_sample = &sample;
        const auto outputs = comparableOutputs(m_two, m_pair);
        if (outputs.empty()) {
            const std::string blocking = blockingOperators(*m_two.b);
            return badInput(blocking.empty()
                    ? "no output that both files can compute holds real numbers"
                    : "every output depends on operators that cannot be run here: " + blocking);
        }
        QS_TRY(const std::vector<double> outputsApart, distances(outputs, true));
        const bool lost = std::ranges::any_of(m_lost, [](const Lost& l) { return l.elements > 0; });
        NetworkDistance worst = judged(outputs, outputsApart);
        worst.sample = sample.number;
        // Where rounding is said to move an output by all of it, what was measured as rounding may be an overflow.
        if (!worst.apart() && !lost && worst.tolerance <= kNoRounding)
            return worst;
        const auto values = comparableValues(m_two, m_pair, m_pairs);
        const auto all = distances(values, false);
        const auto apart = firstBeyond(values, all, worst);
        worst.overflow = firstOverflow(
            m_two, m_pair, values, m_lost, apart ? apart->floatValue : ValueId(), sample.inputs, m_work);
        if (!worst.apart())
            return worst;
        worst.firstApart = apart;
        worst.mostFrom = mostFrom(values, all, worst);
        const ValueId place = worst.firstApart.value_or(worst.worstOutput).floatValue;
        const auto namesakes = namesakesBefore(m_two, m_pair, place);
        if (const auto before = firstBeyond(namesakes, distances(namesakes, false), worst))
            worst.firstApart = before;
        return worst;
    }

private:
    /// The sample from this one on whose outputs are furthest apart, and further than is told; null: none is.
    const ProofSample* showsMore(const std::vector<ProofSample>& samples, size_t from, const NetworkDistance& told)
    {
        const ProofSample* most = nullptr;
        NetworkDistance shown = told;
        for (size_t i = from; i < samples.size() && !m_work.cancel.cancelled(); ++i) {
            m_sample = &samples[i];
            const auto outputs = comparableOutputs(m_two, m_pair);
            const auto apart = distances(outputs, true);
            const NetworkDistance here = apart.ok() ? worstOf(outputs, *apart) : told;
            if (std::isfinite(here.worstOutput.distance) && here.apart() && here.beyond() > shown.beyond()) {
                shown = here;
                most = &samples[i];
            }
        }
        return most;
    }

    /// By what rounding explains on an earlier sample, where that is enough: to find it out anew takes several runs.
    NetworkDistance judged(const std::vector<ValueOfBoth>& outputs, const std::vector<double>& outputsApart)
    {
        const bool asks = std::ranges::max(outputsApart) > kSameNetwork || m_step.precision != Precision::Float32;
        if (!m_explained.empty() || !asks)
            if (const NetworkDistance worst = worstOf(outputs, outputsApart); worst.same())
                return worst;
        if (asks)
            if (auto found = explainedDistances(m_two, m_step, outputs, *m_sample, m_pair, m_work); found.ok())
                m_explained = std::move(found).value();
        return worstOf(outputs, outputsApart);
    }

    /// Of what was compared last, what is apart by more than the output's tolerance, of many elements with the margin
    /// of these, and by more than `least`. `among`: of these alone; null: of all.
    std::optional<ValueDistance> firstBeyond(const std::vector<ValueOfBoth>& values,
        const Result<std::vector<double>>& all, const NetworkDistance& output, double least = 0,
        const std::set<ValueId>* among = nullptr) const
    {
        for (size_t i = 0; all.ok() && i < all->size(); ++i)
            if ((*all)[i] > std::max(mostOf(i, output), least) && (!among || among->contains(values[i].shown)))
                return ValueDistance { values[i].shown, (*all)[i] };
        return std::nullopt;
    }

    double mostOf(size_t i, const NetworkDistance& output) const
    {
        const double rounding = std::max(output.explained.value_or(output.tolerance), m_room);
        return m_counts[i] < kFew ? output.tolerance
                                  : std::clamp(kProofMargin * rounding, kSameNetwork, output.tolerance);
    }

    /// See NetworkDistance. What is apart first is not the reason, either, where all that follows from it agrees again
    /// before the output.
    std::optional<ValueDistance> mostFrom(const std::vector<ValueOfBoth>& values,
        const Result<std::vector<double>>& all, const NetworkDistance& output) const
    {
        if (output.firstApart && kLittle * output.firstApart->distance < output.worstOutput.distance)
            return firstBeyond(values, all, output, output.worstOutput.distance / 2);
        std::set<ValueId> agreeing;
        for (size_t i = 0; all.ok() && i < all->size(); ++i)
            if (m_sameSize[i] && (*all)[i] <= mostOf(i, output))
                agreeing.insert(values[i].shown);
        const auto ways = leadingTo(m_pair.floatPlan->graph(), output.worstOutput.floatValue, agreeing);
        if (!output.firstApart || ways.contains(output.firstApart->floatValue))
            return std::nullopt;
        return firstBeyond(values, all, output, 0, &ways);
    }

    Result<std::vector<double>> distances(const std::vector<ValueOfBoth>& values, bool outputs)
    {
        m_counts.clear();
        m_sameSize.clear();
        m_zero.clear();
        m_lost.clear();
        m_alone.clear();
        std::vector<ValueId> ofFloat, ofBypassed;
        for (const ValueOfBoth& v : values) {
            ofFloat.push_back(v.f);
            ofBypassed.push_back(v.b);
        }
        Result<std::vector<Tensor>> x = cancelled(), y = cancelled();
        parallelFor(2, m_work.threadCount(), [&](size_t i, size_t) {
            (i == 0 ? x : y) = runNetwork(
                i == 0 ? m_two.f : m_two.b, m_pair.floatPlan, i == 0 ? ofFloat : ofBypassed, m_sample->inputs, m_work);
        });
        if (!x.ok() || !y.ok())
            return (x.ok() ? y : x).issue();
        std::vector<double> found;
        for (size_t i = 0; i < values.size(); ++i) {
            RealsOfBoth both { toFloats((*x)[i]), toFloats((*y)[i]) };
            if (const Shape& shape = (*x)[i].shape(); !outputs && !shape.empty())
                blankMasked(*m_pair.floatPlan, values[i].shown, size_t(shape.back()), both.x, both.y);
            m_sameSize.push_back(both.x.size() == both.y.size());
            for (auto* reals : { &both.x, &both.y })
                if (m_sameSize.back())
                    *reals = countedReals(*m_sample, values[i].shown, (*x)[i].shape(), std::move(*reals));
            m_lost.push_back(lostBetween(both.x, both.y));
            m_alone.push_back(outputs ? lostBetween(both.y, both.x) : Lost {});
            const bool numbersInOne = outputs && (m_lost.back().ofAnyType() || m_alone.back().ofAnyType());
            found.push_back(numbersInOne ? HUGE_VAL : distanceBetween(both, outputs));
            m_counts.push_back(int64_t(both.x.size()));
            m_zero.push_back(m_sameSize.back() && finiteCount(both.y) > 0
                && std::ranges::all_of(both.x, [](float v) { return v == 0; }));
        }
        return found;
    }

    /// What is handed on to the next run is told of only where the results agree; a cache of another size, as that of a
    /// window, says nothing.
    NetworkDistance worstOf(const std::vector<ValueOfBoth>& outputs, const std::vector<double>& apart) const
    {
        const double widest = std::max(kWidestProof, kWidestOfCoarse * roundingOf(m_step.precision));
        std::optional<NetworkDistance> result, state;
        for (size_t i = 0; i < outputs.size(); ++i) {
            const bool handedOn = isHandedOn(m_pair.floatPlan->graph(), outputs[i].shown);
            if (handedOn && !m_sameSize[i])
                continue;
            NetworkDistance here;
            here.worstOutput = { outputs[i].shown, apart[i] };
            here.zeroInFloat = m_zero[i];
            here.noNumbers = m_lost[i].elements;
            here.numbersAlone = m_alone[i].elements;
            const double margin = m_counts[i] < kFew ? kMarginOfFew : kProofMargin;
            here.tolerance = std::max(kSameNetwork, margin * m_room);
            if (!m_explained.empty()) {
                here.explained = m_explained[i];
                here.tolerance = std::max(here.tolerance, margin * m_explained[i]);
                here.hidden = m_hides && !here.apart() && here.tolerance > widest && apart[i] > kSameNetwork;
            }
            auto& worst = handedOn ? state : result;
            if (!worst || tellsMore(here, *worst))
                worst = here;
        }
        if (!result && !state) // caches of other sizes alone
            return { .worstOutput = { outputs[0].shown, apart[0] } };
        return result && (!result->same() || !state || state->same()) ? *result : *state;
    }

    const TwoNetworks m_two;
    const ComparePair& m_pair;
    const std::vector<PairPlan>& m_pairs;
    const PrecisionStep& m_step;
    const WorkContext& m_work;
    const ProofSample* m_sample = nullptr; ///< that is looked at
    double m_room = 0;
    bool m_hides = true;
    std::vector<double> m_explained; ///< by output: what rounding explains; of the sample that it was asked for last
    std::vector<int64_t> m_counts; ///< elements of what was compared last
    std::vector<bool> m_sameSize; ///< of the same, in both files
    std::vector<bool> m_zero; ///< of the same: zero everywhere in the float model, numbers in the other file
    std::vector<Lost> m_lost; ///< of the same
    std::vector<Lost> m_alone; ///< the same of outputs: numbers that the float model has none for
};

/// Runs of a proof.
class ProofRuns {
public:
    ProofRuns(const ComparePair& pair, const std::vector<ProofSample>& samples, const WorkContext& work)
        : m_pair(pair)
        , m_samples(samples)
        , m_work(work)
        , m_pairs(planPairs(pair))
    {
    }

    /// Whole numbers have to be the same where the reals that they are made from are.
    std::optional<NetworkDistance> otherCountsOf() const
    {
        const auto bypassed = bypassQuantizers(m_pair, m_pairs);
        for (size_t i = 0; bypassed.ok() && i < m_samples.size(); ++i) {
            const auto other = otherCounts({ m_pair.floatPlan, bypassed->plan }, m_pair, m_samples[i].inputs, m_work);
            if (!other)
                continue;
            NetworkDistance here { .worstOutput = { other->shown, other->share }, .tolerance = 0 };
            here.counted = true;
            here.sample = m_samples[i].number;
            return here;
        }
        return std::nullopt;
    }

    /// Of values by name, which stand for these; empty where one cannot be run, or holds no reals.
    std::vector<std::vector<float>> realsOf(const std::shared_ptr<const Plan>& plan,
        const std::vector<std::string>& names, const std::vector<ValueOfBoth>& values, const ProofSample& sample) const
    {
        std::vector<ValueId> ids;
        std::vector<size_t> places;
        for (size_t i = 0; i < names.size(); ++i)
            if (const ValueId id = plan->graph().findValue(names[i]);
                id.valid() && !plan->blocked(id) && holdsReals(m_pair, *plan, id)) {
                ids.push_back(id);
                places.push_back(i);
            }
        std::vector<std::vector<float>> reals(names.size());
        const auto found = runNetwork(plan, m_pair.floatPlan, ids, sample.inputs, m_work);
        for (size_t i = 0; found.ok() && i < ids.size(); ++i)
            reals[places[i]] = countedReals(
                sample, values[places[i]].shown, (*found)[i].shape(), realsHeld(m_pair, *plan, ids[i], (*found)[i]));
        return reals;
    }

    NetworkComparer comparer(TwoNetworks networks, const PrecisionStep& step) const
    {
        return NetworkComparer(std::move(networks), m_pair, m_pairs, step, m_work);
    }

protected:
    const ComparePair& m_pair;
    const std::vector<ProofSample>& m_samples;
    const WorkContext& m_work;
    const std::vector<PairPlan> m_pairs;
};

/// Networks in which some stored constants have no partner in the float model, and stand as they are.
class OwnConstants : protected ProofRuns {
protected:
    using ProofRuns::ProofRuns;

    /// The network is the float model's but for what rounding these constants explains. That it is another one is not
    /// told by that: factors may stand in other constants.
    std::optional<NetworkDistance> withinRounding(
        const std::shared_ptr<const Plan>& plan, const std::shared_ptr<const Plan>& disturbed) const
    {
        const auto outputs = comparableOutputs({ m_pair.floatPlan, plan }, m_pair);
        std::vector<std::string> floatNames, names;
        for (const ValueOfBoth& out : outputs) {
            floatNames.push_back(m_pair.floatPlan->graph().value(out.f).name);
            names.push_back(plan->graph().value(out.b).name);
        }
        std::optional<NetworkDistance> worst;
        for (const ProofSample& sample : m_samples) {
            const auto all = realsOf(m_pair.floatPlan, floatNames, outputs, sample),
                       own = realsOf(plan, names, outputs, sample), moved = realsOf(disturbed, names, outputs, sample);
            for (size_t i = 0; i < outputs.size(); ++i) {
                const OffByRounding off = offByRounding(all[i], own[i], moved[i], kSameNetwork);
                const NetworkDistance here { .worstOutput = { outputs[i].shown, off.distance },
                    .tolerance = off.tolerance };
                if (all[i].empty() || !here.same() || here.tolerance > kWidestProof)
                    return std::nullopt;
                if (!worst || here.beyond() > worst->beyond()) {
                    worst = here;
                    worst->sample = sample.number;
                }
            }
        }
        return worst;
    }

    /// It is another one: what these constants hold is too little to be found by its values elsewhere, rounding them
    /// explains less, and the file with all that it stores is as far off, so that no factor stands in another constant.
    std::optional<NetworkDistance> apart(const Bypassed& bypassed, const Bypassed& disturbed,
        const NetworkDistance& found, BypassedRanges ranges, const PrecisionStep& step) const
    {
        const auto rounding = distanceOfSmall(*bypassed.plan, *disturbed.plan, bypassed.own);
        const auto sample = std::ranges::find(m_samples, found.sample, &ProofSample::number);
        if (!rounding || sample == m_samples.end() || !found.apart())
            return std::nullopt;
        const auto own = bypassWithOwnConstants(m_pair, m_pairs, ranges);
        if (!own.ok())
            return std::nullopt;
        const auto whole = comparer({ m_pair.floatPlan, own->plan }, step).compare(*sample);
        if (!whole.ok() || whole->worstOutput.distance < kAsFar * found.worstOutput.distance)
            return std::nullopt;
        const TwoNetworks two { m_pair.floatPlan, bypassed.plan };
        double room = *rounding;
        for (const ValueOfBoth& out : comparableOutputs(two, m_pair)) {
            const std::vector<std::string> name { bypassed.plan->graph().value(out.b).name };
            const auto y = realsOf(bypassed.plan, name, { out }, *sample),
                       z = realsOf(disturbed.plan, name, { out }, *sample);
            room = std::max(room, y[0].size() == z[0].size() ? relativeDistance(y[0], z[0]) : 0);
        }
        NetworkComparer beside = comparer(two, step);
        beside.allow(room);
        auto told = beside.compare(*sample);
        const bool shown = told.ok() && told->apart() && !told->overflow && told->tolerance <= kWidestProof;
        return shown ? std::optional(*told) : std::nullopt;
    }
};

/// Finds the distances of a proof, and the reason where there are none.
class Prover : OwnConstants {
public:
    Prover(const ComparePair& pair, const std::vector<ProofSample>& samples, const WorkContext& work)
        : OwnConstants(pair, samples, work)
    {
    }

    NetworkProof prove()
    {
        m_proof.step = precisionStep(m_pair);
        for (FunctionDifference& other : functionDifferences(m_pair))
            m_proof.otherFunctions.push_back(std::move(other.text));
        const bool same
            = tryAsWritten() || tryFloatWeights(BypassedRanges::AsPaired) || tryFloatWeights(BypassedRanges::AsStored);
        if (!same && m_pair.quantizedReference) { // it keeps its quantizers, which may hold its activations
            m_proof.withFloatWeights.reset();
            m_issue = badInput("the file that is taken as the float model is quantized itself");
        } else if (!same) {
            tryActivations();
            const bool stored = !tryFloatConstants() && tryStoredWeights();
            if (!stored || m_proof.withFloatWeights) // weights may be other ones, too, or make up for each other
                tryOwnConstants();
        }
        compareCounts();
        m_proof.untested = m_issue && !m_pair.quantizedReference;
        if (m_issue)
            m_proof.reason = issueText(*m_issue);
        if (m_tooWide)
            m_proof.reason
                += fmt::format("{}each with its own weights, rounding alone may move the output by {:.2g} of "
                               "its size, which hides what else differs",
                    m_issue ? "; " : "", *m_tooWide);
        if (!m_proof.same())
            for (FunctionDifference& other : attributeDifferences(m_pair, AttributeKind::Shapes))
                m_proof.otherFunctions.push_back(std::move(other.text));
        return std::move(m_proof);
    }

private:
    /// Two quantized files that compute the same with all their quantizers are one network: rounding explains nothing
    /// there.
    bool tryAsWritten()
    {
        if (!m_pair.quantizedReference)
            return false;
        const auto found = compare({ m_pair.floatPlan, m_pair.writtenPlan ? m_pair.writtenPlan : m_pair.quantPlan });
        if (!found.ok() || found->worstOutput.distance > kSameNetwork)
            return false;
        m_proof.withFloatWeights = *found;
        return true;
    }

    /// True where they are the same.
    bool tryFloatWeights(BypassedRanges ranges)
    {
        const auto bypassed = bypassQuantizers(m_pair, m_pairs, ranges);
        if (!bypassed.ok())
            return keep(bypassed.issue());
        const auto found = compare({ m_pair.floatPlan, bypassed->plan });
        if (!bypassed->own.empty() && !(found.ok() && found->same()))
            return tryBesideOwn(*bypassed, found, ranges);
        if (!found.ok())
            return keep(found.issue());
        if (found->same() || !m_proof.withFloatWeights)
            m_proof.withFloatWeights = *found;
        return found->same();
    }

    /// Constants that are stored without loss, as those of a Gelu, do without a partner.
    bool tryBesideOwn(const Bypassed& bypassed, const Result<NetworkDistance>& found, BypassedRanges ranges)
    {
        m_proof.unpaired = bypassed.own;
        const auto disturbed = found.ok() ? bypassDisturbed(m_pair, m_pairs, ranges) : found.issue();
        if (disturbed.ok()) {
            if (const auto same = withinRounding(bypassed.plan, disturbed->plan)) {
                m_proof.withFloatWeights = *same;
                return true;
            }
            if (!m_proof.withFloatWeights)
                m_proof.withFloatWeights = apart(bypassed, *disturbed, *found, ranges, m_proof.step);
        }
        return m_proof.withFloatWeights ? false : keep(badInput(unpairedText(bypassed.own)));
    }

    void tryActivations()
    {
        if (std::ranges::none_of(m_pairs, [](const PairPlan& p) { return p.lostNode.valid(); }))
            return;
        std::vector<PairPlan> restored = m_pairs;
        for (PairPlan& p : restored)
            if (p.lostNode.valid())
                p.activation = p.lost;
        const auto bypassed = bypassQuantizers(m_pair, restored);
        const auto found = bypassed.ok() ? compare({ m_pair.floatPlan, bypassed->plan }) : bypassed.issue();
        if (found.ok() && found->same() && m_proof.withFloatWeights)
            m_proof.withActivations = *found;
    }

    bool tryFloatConstants()
    {
        if (std::ranges::none_of(m_proof.step.roundings, [](const WeightRounding& r) { return !r.precision; }))
            return false;
        const auto bypassed = bypassWithFloatConstants(m_pair, m_pairs, m_proof.step.roundings);
        if (!bypassed.ok() || !bypassed->own.empty())
            return false;
        const auto found = compare({ m_pair.floatPlan, bypassed->plan });
        if (!found.ok() || !found->same() || !m_proof.withFloatWeights)
            return false;
        m_proof.withFloatConstants = *found;
        return true;
    }

    bool tryStoredWeights()
    {
        const auto stored = bypassWithStoredWeights(m_pair, m_pairs);
        if (!stored.ok())
            return keep(stored.issue());
        const auto found = compare({ stored->floatPlan, stored->quantPlan });
        if (!found.ok())
            return keep(found.issue());
        m_proof.withStoredWeights = *found;
        return found->same();
    }

    void tryOwnConstants()
    {
        const auto bypassed = bypassWithOwnConstants(m_pair, m_pairs);
        const auto rounded = bypassed.ok() ? withRoundedWeights(m_pair) : bypassed.issue();
        if (!rounded.ok())
            return;
        NetworkComparer own = comparer({ m_pair.floatPlan, bypassed->plan }, m_proof.step);
        NetworkComparer weights = comparer({ m_pair.floatPlan, *rounded }, m_proof.step);
        std::optional<NetworkDistance> worst, widest;
        for (const ProofSample& sample : m_samples) {
            const auto explained = weights.compare(sample);
            if (!explained.ok())
                return;
            own.allow(kRoomOfCaches * explained->worstOutput.distance, false); // or results alone would be looked at
            const auto found = own.compare(sample);
            if (!found.ok() || !std::isfinite(found->worstOutput.distance))
                return;
            NetworkDistance distance = *found;
            distance.explained = explained->worstOutput.distance;
            distance.tolerance = std::max(kSameNetwork, kProofMargin * *distance.explained);
            distance.firstApart.reset();
            distance.hidden = false;
            if (!distance.same() || distance.overflow)
                return;
            if (!worst || distance.beyond() > worst->beyond())
                worst = distance;
            if (!widest || distance.tolerance > widest->tolerance)
                widest = distance;
        }
        if (widest->tolerance <= kWidestProof || m_proof.withFloatConstants)
            m_proof.rearranged = worst;
        else
            m_tooWide = widest->tolerance;
    }

    /// What reals are apart by tells more.
    void compareCounts()
    {
        const auto apart = [](const std::optional<NetworkDistance>& d) { return d && d->apart(); };
        if (!m_proof.same() && (apart(m_proof.withFloatWeights) || apart(m_proof.withStoredWeights)))
            return;
        if (const auto here = otherCountsOf()) {
            m_proof.withFloatWeights = m_proof.withStoredWeights = here;
            m_proof.withFloatConstants = m_proof.withActivations = m_proof.rearranged = {};
        }
    }

    Result<NetworkDistance> compare(TwoNetworks networks) const
    {
        return comparer(std::move(networks), m_proof.step).compare(m_samples);
    }

    bool keep(const Issue& issue)
    {
        if (!m_issue)
            m_issue = issue;
        return false;
    }

    NetworkProof m_proof;
    std::optional<Issue> m_issue; ///< the first
    std::optional<double> m_tooWide; ///< tolerance of a proof with own weights
};

} // namespace

NetworkProof proveNetwork(const ComparePair& pair, const std::vector<ProofSample>& samples, const WorkContext& work)
{
    return Prover(pair, samples, work).prove();
}

NetworkProof proveNetwork(const ComparePair& pair, const std::vector<Tensor>& inputs, const WorkContext& work)
{
    return proveNetwork(pair, std::vector { ProofSample { inputs, 0 } }, work);
}

bool isFlat(const std::vector<Tensor>& inputs)
{
    return std::ranges::all_of(inputs, [](const Tensor& t) { return isFlat(t); });
}

} // namespace qs
