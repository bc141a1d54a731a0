// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/lockstep/proof_samples.h"

#include "core/analysis/agreement/padded_positions.h"
#include "core/analysis/bypass/bypass.h"
#include "core/analysis/bypass/network_outputs.h"
#include "core/analysis/bypass/network_run.h"
#include "core/analysis/bypass/proof_distances.h"
#include "core/analysis/bypass/restored_activations.h"
#include "core/analysis/confirm/bias_shifts.h"
#include "core/analysis/confirm/cpu_sums.h"
#include "core/analysis/confirm/made_up_weights.h"
#include "core/analysis/confirm/other_constants.h"
#include "core/analysis/decode/past_sample.h"
#include "core/analysis/lockstep/changed_functions.h"
#include "core/analysis/lockstep/fused_settings.h"
#include "core/analysis/lockstep/rounded_by_output.h"
#include "core/analysis/rounding/relative_distance.h"
#include "core/graph/handed_on.h"
#include "core/kernels/instruction_sets.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

namespace qs {

namespace {

constexpr size_t kTriedForFlat = 8;
constexpr size_t kMostOthers = 3; ///< where rounding hides everything on those that were chosen
constexpr size_t kMostRestored = 32; ///< feeds that are run to see what lost activations cost
constexpr size_t kMaskNumbers = 4; ///< an input of more numbers is no mask, type or size

/// Share of each number in an input; empty where it holds more than a mask does.
std::map<double, double> sharesIn(const Tensor& t)
{
    std::map<double, double> shares;
    if (!t.valid() || t.count() == 0 || dtypeBits(t.dtype()) < 8)
        return shares;
    for (const double v : toDoubles(t)) {
        shares[std::isnan(v) ? HUGE_VAL : v] += 1 / double(t.count());
        if (shares.size() > kMaskNumbers)
            return {};
    }
    return shares;
}

/// 0 where both have the same numbers as often, 2 where they have none in common.
double unlikeness(const std::map<double, double>& a, const std::map<double, double>& b)
{
    double sum = 0;
    for (const auto& [number, share] : a)
        sum += std::fabs(share - (b.contains(number) ? b.at(number) : 0));
    for (const auto& [number, share] : b)
        sum += a.contains(number) ? 0 : share;
    return sum;
}

class SampleChooser {
public:
    SampleChooser(const Measured& measured, size_t feeds, const std::function<Result<Feed>(size_t)>& feed)
        : m_measured(measured)
        , m_feeds(feeds)
        , m_each(std::max<size_t>(feeds > 0 ? measured.samples / feeds : 1, 1))
        , m_feed(feed)
    {
    }

    /// Those of the least error that `taken` does not have.
    Result<std::vector<ProofSample>> others(const std::vector<ProofSample>& taken)
    {
        for (const size_t index : byError()) {
            if (m_samples.size() == kMostOthers)
                break;
            QS_TRY(Feed feed, m_feed(index));
            if (std::ranges::find(taken, feed.firstSample, &ProofSample::number) == taken.end())
                add(index, std::move(feed));
        }
        return std::move(m_samples);
    }

    /// What lost activations cost, of all feeds, or of so many as may be, with the largest error. `samples`, of
    /// choose(), get the one where that is most.
    Result<std::optional<RestoredOutput>> restored(
        const ComparePair& pair, const CarriedState& before, std::vector<ProofSample>& samples, const WorkContext& work)
    {
        auto runs = RestoredRuns::make(pair, m_measured.pairs);
        std::vector<size_t> taken = byError();
        if (taken.size() > kMostRestored)
            taken.erase(taken.begin(), taken.end() - ptrdiff_t(kMostRestored));
        std::ranges::sort(taken);
        std::pair<double, size_t> most { 0, m_taken[0] };
        for (size_t i = 0; runs && i < taken.size(); ++i) {
            QS_TRY(const Feed feed, m_feed(taken[i]));
            const auto gained = runs->add(before.inputs(feed.inputs), work);
            if (!gained)
                return std::optional<RestoredOutput>();
            if (*gained > most.first)
                most = { *gained, taken[i] };
        }
        if (!runs || taken.empty())
            return std::optional<RestoredOutput>();
        QS_CHECK(take(most.second));
        std::ranges::move(m_samples, std::back_inserter(samples));
        RestoredOutput found = runs->result();
        found.samples = taken.size() < m_feeds ? taken.size() * m_each : 0;
        return std::optional(found);
    }

    Result<std::vector<ProofSample>> choose()
    {
        QS_CHECK(takeFirst());
        QS_CHECK(take(firstSpoiled()));
        QS_CHECK(take(worst()));
        QS_CHECK(takeUnlike());
        return std::exchange(m_samples, {});
    }

private:
    /// One in which every input is the same everywhere tells too little where there is another.
    Status takeFirst()
    {
        QS_TRY(Feed shown, m_feed(0));
        size_t index = 0;
        for (size_t next = 1; next < std::min(m_feeds, kTriedForFlat) && isFlat(shown.inputs); ++next) {
            QS_TRY(Feed other, m_feed(next));
            if (!isFlat(other.inputs)) {
                shown = std::move(other);
                index = next;
            }
        }
        add(index, std::move(shown));
        return {};
    }

    void add(size_t index, Feed feed)
    {
        m_taken.push_back(index);
        m_samples.push_back({ std::move(feed.inputs), feed.firstSample, feed.samples });
    }

    Status take(size_t index)
    {
        if (std::ranges::find(m_taken, index) != m_taken.end())
            return {};
        QS_TRY(Feed feed, m_feed(index));
        add(index, std::move(feed));
        return {};
    }

    /// Largest noise over signal of any output.
    double errorAt(size_t index) const
    {
        double largest = 0;
        for (size_t row = 0; row * m_measured.samples < m_measured.outputSums.size(); ++row)
            for (size_t s = index * m_each; s < (index + 1) * m_each; ++s)
                if (const PairSums& sums = m_measured.outputSums[row * m_measured.samples + s]; sums.xx > 0)
                    largest = std::max(largest, sums.ee / sums.xx);
        return largest;
    }

    /// All feeds, those of the least error first.
    std::vector<size_t> byError() const
    {
        std::vector<std::pair<double, size_t>> errors;
        for (size_t index = 0; index < m_feeds; ++index)
            errors.emplace_back(errorAt(index), index);
        std::ranges::sort(errors);
        std::vector<size_t> list;
        for (const auto& [error, index] : errors)
            list.push_back(index);
        return list;
    }

    size_t worst() const
    {
        size_t found = m_taken[0];
        for (size_t index = 0; index < m_feeds; ++index)
            if (errorAt(index) > errorAt(found))
                found = index;
        return found;
    }

    /// Where a value has numbers that are not finite, and more of them than on the feed that was taken: of the first
    /// such value in the network. What is behind it follows.
    size_t firstSpoiled() const
    {
        const size_t samples = m_measured.samples;
        for (size_t row = 0; samples > 0 && row * samples < m_measured.sums.size(); ++row) {
            const auto count = [&](size_t index) {
                uint64_t sum = 0;
                for (size_t s = index * m_each; s < (index + 1) * m_each; ++s)
                    sum += m_measured.sums[row * samples + s].nonFinite;
                return sum;
            };
            for (size_t index = 0; index < m_feeds; ++index)
                if (count(index) > count(m_taken[0]))
                    return index;
        }
        return m_taken[0];
    }

    Status takeUnlike()
    {
        std::vector<std::map<double, double>> masks;
        for (const Tensor& input : m_samples[0].inputs)
            masks.push_back(sharesIn(input));
        if (std::ranges::all_of(masks, [](const auto& mask) { return mask.empty(); }))
            return {}; // reading pictures takes long
        double largest = 0;
        std::optional<std::pair<size_t, Feed>> found;
        for (size_t index = 0; index < m_feeds; ++index) {
            QS_TRY(Feed feed, m_feed(index));
            double sum = 0;
            for (size_t i = 0; i < std::min(masks.size(), feed.inputs.size()); ++i)
                sum += masks[i].empty() ? 0 : unlikeness(masks[i], sharesIn(feed.inputs[i]));
            if (sum > largest) {
                largest = sum;
                found.emplace(index, std::move(feed));
            }
        }
        if (found && std::ranges::find(m_taken, found->first) == m_taken.end())
            add(found->first, std::move(found->second));
        return {};
    }

    const Measured& m_measured;
    const size_t m_feeds, m_each; ///< `m_each`: samples of a feed
    const std::function<Result<Feed>(size_t)>& m_feed;
    std::vector<size_t> m_taken; ///< feeds
    std::vector<ProofSample> m_samples;
};

/// The padding of texts, which counts for nothing.
class TextPadding {
public:
    explicit TextPadding(const ComparePair& pair)
        : m_plan(pair.floatPlan)
    {
        if (auto text = textPositions(*m_plan, pairOutputs(pair)))
            m_text = std::make_shared<const TextPositions>(std::move(*text));
    }
    void leaveOut(ProofSample& sample) const
    {
        sample.counted = countedElements(m_plan, m_text, { sample.inputs, sample.number, sample.samples });
    }

private:
    std::shared_ptr<const Plan> m_plan;
    std::shared_ptr<const TextPositions> m_text; ///< null: nothing tells of any
};

/// Files that are the same on samples whose caches hold nothing, on one whose caches do, where one can be made.
void proveBehindPast(const ComparePair& pair, const TextPadding& padding, std::vector<ProofSample>& samples,
    const WorkContext& work, NetworkProof& proof)
{
    const auto isEmpty = [&](const ProofSample& sample) { return leavesCachesEmpty(*pair.floatPlan, sample.inputs); };
    if (!proof.same() || !std::ranges::all_of(samples, isEmpty))
        return;
    proof.past = PastProof::Untested;
    auto behind = sampleBehindPast(pair, pair.floatPlan, samples.front(), work);
    if (!behind)
        return;
    padding.leaveOut(*behind);
    NetworkProof again = proveNetwork(pair, { *behind }, work);
    if (again.same())
        proof.past = PastProof::Same;
    const auto& told = again.withStoredWeights ? again.withStoredWeights : again.withFloatWeights;
    if (again.same() || !told || !told->apart())
        return; // else it cannot be run so, or rounding hides it
    proof = std::move(again);
    proof.past = PastProof::Apart;
    samples = { *behind };
}

/// What the float model makes of the tokens of a padded text is not what it makes of the text alone.
bool floatReadsPadding(
    const ComparePair& pair, const ProofSample& padded, const ProofSample& alone, const WorkContext& work)
{
    constexpr double kRead = 0.01; // relatively; rounding moves far less
    const auto& plan = pair.floatPlan;
    for (const OutputPair& out : pairOutputs(pair)) {
        if (isHandedOn(plan->graph(), out.x))
            continue;
        const auto with = runNetwork(plan, plan, { out.x }, padded.inputs, work),
                   without = runNetwork(plan, plan, { out.x }, alone.inputs, work);
        if (!with.ok() || !without.ok())
            continue;
        const auto x = countedReals(alone, out.x, (*without)[0]), y = countedReals(padded, out.x, (*with)[0]);
        if (x.size() == y.size() && relativeDistance(x, y) > kRead)
            return true;
    }
    return false;
}

/// Files that part on a sample with padding, on the same one without it. Where one has numbers and the other none,
/// something else is told.
void proveWithoutPadding(const ComparePair& pair, const TextPadding& padding, const std::vector<ProofSample>& samples,
    const WorkContext& work, NetworkProof& proof)
{
    const auto& told = proof.withFloatWeights ? proof.withFloatWeights : proof.withStoredWeights;
    if (proof.same() || !told || !told->apart() || told->counted || !std::isfinite(told->worstOutput.distance))
        return;
    const auto sample = std::ranges::find(samples, told->sample, &ProofSample::number);
    auto alone = sample == samples.end() ? std::nullopt : sampleWithoutPadding(pair, *sample);
    if (!alone)
        return;
    padding.leaveOut(alone->sample);
    if (proveNetwork(pair, { alone->sample }, work).same()) {
        alone->padding.inFloat = floatReadsPadding(pair, *sample, alone->sample, work);
        proof.padding = std::move(alone->padding);
    }
}

} // namespace

Result<std::vector<ProofSample>> proofSamples(
    const Measured& measured, size_t feeds, const std::function<Result<Feed>(size_t)>& feed)
{
    return SampleChooser(measured, feeds, feed).choose();
}

namespace {

/// Rounding hides what else differs on all of the samples, and explains all that does.
bool isHiddenByRounding(const NetworkProof& proof)
{
    const auto& own = proof.withFloatWeights;
    return !proof.same() && own && own->hiddenByRounding();
}

/// Whether both files make the same of a text behind pasts of their own; nothing where they cannot be run so.
std::optional<bool> agreeBehindOwnPasts(
    const ComparePair& pair, const ProofSample& sample, double tolerance, const WorkContext& work)
{
    const auto own = bypassWithOwnConstants(pair, planPairs(pair));
    const auto behind = own.ok() ? sampleBehindPast(pair, pair.floatPlan, sample, work) : std::nullopt;
    const auto ownBehind = behind ? sampleBehindPast(pair, own->plan, sample, work) : std::nullopt;
    if (!ownBehind)
        return std::nullopt;
    const TwoNetworks two { pair.floatPlan, own->plan };
    for (const ValueOfBoth& out : comparableOutputs(two, pair)) {
        if (isHandedOn(pair.floatPlan->graph(), out.shown))
            continue;
        const auto x = runNetwork(two.f, two.f, { out.f }, behind->inputs, work),
                   y = runNetwork(two.b, two.f, { out.b }, ownBehind->inputs, work);
        if (!x.ok() || !y.ok())
            return std::nullopt;
        if (!(relativeDistance(toFloats((*x)[0]), toFloats((*y)[0])) <= tolerance))
            return false;
    }
    return true;
}

/// Weights that make up for one another; of caches that hold other numbers then it is asked whether each file goes on
/// from its own as the other does.
void proveOwnWeights(
    const ComparePair& pair, const std::vector<ProofSample>& samples, const WorkContext& work, NetworkProof& proof)
{
    NetworkProof with = proof;
    findMadeUpWeights(pair, samples, work, with);
    if (with.otherCaches.empty()) {
        proof = std::move(with);
        return;
    }
    const auto agree = agreeBehindOwnPasts(pair, samples.front(), with.rearranged->tolerance, work);
    proof.withOwnWeights = with.withOwnWeights;
    if (!agree.value_or(!with.madeUp.empty())) // caches alone prove nothing
        return;
    proof = std::move(with);
    proof.past = agree ? PastProof::Same : PastProof::Untested;
}

} // namespace

Status proveMeasured(const ComparePair& pair, const CarriedState& before, size_t feeds,
    const std::function<Result<Feed>(size_t)>& feed, Measured& measured, const WorkContext& work)
{
    SampleChooser chooser(measured, feeds, feed);
    QS_TRY(std::vector<ProofSample> samples, chooser.choose());
    QS_TRY(measured.restored, chooser.restored(pair, before, samples, work));
    const TextPadding padding(pair);
    for (ProofSample& sample : samples) {
        sample.inputs = before.inputs(sample.inputs);
        padding.leaveOut(sample);
    }
    const bool whole = measured.samples == measured.allSamples; // parts are asked together, when they are merged
    const auto cpuSums
        = whole && addsPairsIn16Bits() && !pair.writtenPlan ? measureCpuSums(pair, samples, work) : std::nullopt;
    NetworkProof proof = proveNetwork(pair, samples, work);
    if (isHiddenByRounding(proof)) {
        QS_TRY(std::vector<ProofSample> others, SampleChooser(measured, feeds, feed).others(samples));
        for (ProofSample& sample : others) {
            sample.inputs = before.inputs(sample.inputs);
            padding.leaveOut(sample);
        }
        NetworkProof again = others.empty() ? proof : proveNetwork(pair, others, work);
        if (again.same() || (again.withFloatWeights && again.withFloatWeights->apart())) {
            proof = std::move(again);
            samples = std::move(others);
        }
    }
    proveBehindPast(pair, padding, samples, work, proof);
    const auto ready = [&](size_t index) -> Result<ProofSample> {
        QS_TRY(Feed next, feed(index));
        ProofSample sample { before.inputs(next.inputs), next.firstSample, next.samples };
        padding.leaveOut(sample);
        return sample;
    };
    const bool ofPast = proof.past == PastProof::Apart; // which the data do not have
    measureOtherConstants(pair, samples, { ofPast ? 0 : feeds, ready }, work, proof);
    proveWithoutPadding(pair, padding, samples, work, proof);
    proveOwnWeights(pair, samples, work, proof);
    if (!pair.quantizedReference) {
        findUnreached(pair, samples, work, proof);
        measureChangedFunctions(pair, samples, work, proof);
    }
    if (!pair.quantizedReference && !proof.same())
        proof.exchanged = exchangedCaches(pair);
    if (!pair.quantizedReference && !proof.same() && proof.exchanged.empty())
        proof.exchanged = exchangedEnds(pair, samples.front(), work);
    if (!pair.quantizedReference)
        measureRoundedByOutput(pair, samples, work, proof);
    if (!pair.quantizedReference && proof.exchanged.empty())
        findFusedSetting(pair, samples, work, proof);
    proof.cpuSums = cpuSums;
    if (!pair.quantizedReference)
        proof.biasShifts = measureBiasShifts(pair, samples, work);
    measured.proof = std::move(proof);
    return {};
}

} // namespace qs
