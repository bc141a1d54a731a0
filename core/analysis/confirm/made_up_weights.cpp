// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/confirm/made_up_weights.h"

#include "core/analysis/bypass/bypass.h"
#include "core/analysis/bypass/network_outputs.h"
#include "core/analysis/bypass/network_run.h"
#include "core/analysis/bypass/rounded_weights.h"
#include "core/analysis/bypass/twin_constants.h"
#include "core/analysis/pairs/folded_constants.h"
#include "core/analysis/pairs/weight_elements.h"
#include "core/analysis/rounding/relative_distance.h"
#include "core/graph/draft.h"
#include "core/graph/handed_on.h"
#include "core/match/graph/canonical.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace qs {

namespace {

/// Weights so much further off than their steps make them, and so far at all, are others.
constexpr double kTimesSteps = 2, kLeastOther = 0.05;
/// Put back to the float model's, such a weight moves the results away by at least so many times.
constexpr double kWorse = 1.2;
/// And at least so far from the float model's: where outputs hardly follow from any weight, as those of a sure Softmax,
/// nothing is told by them.
constexpr double kLeastMoved = 10 * kSameNetwork;
/// Where rounding the weights moves a result by more, nothing is seen behind it.
constexpr double kMostExplained = 0.3;
constexpr size_t kMostTried = 64; ///< a run each

struct OtherWeight {
    std::string name; ///< of the float model
    std::string constant; ///< in the bypassed files
    double distance = 0;
};

/// How far a network is from the float model on one sample.
struct Apart {
    ValueDistance worst; ///< of the results
    std::map<std::string, double> caches; ///< by name in the float model
};

class MadeUpFinder {
public:
    MadeUpFinder(const ComparePair& pair, const std::vector<ProofSample>& samples, const WorkContext& work)
        : m_pair(pair)
        , m_samples(samples)
        , m_work(work)
    {
    }

    void find(NetworkProof& proof)
    {
        const bool constants = areApart(proof)
            && std::ranges::any_of(proof.step.roundings, [](const WeightRounding& r) { return r.other(); });
        if (!constants && !hasOtherWeight())
            return;
        const std::vector<PairPlan> pairs = planPairs(m_pair);
        const auto own = bypassWithOwnConstants(m_pair, pairs), floats = bypassQuantizers(m_pair, pairs);
        if (!own.ok() || !floats.ok())
            return;
        std::vector<OtherWeight> others = otherWeights(*own->plan, *floats->plan);
        if ((others.empty() && !constants) || !measure(own->plan))
            return;
        proof.withOwnWeights = m_told;
        if (!m_told->same())
            return;
        // Of constants alone, where nothing is rounded and nothing but caches is apart.
        bool all = !others.empty() || (!m_caches.empty() && m_told->tolerance <= kSameNetwork);
        for (size_t i = 0; i < others.size(); ++i)
            if (i >= kMostTried ? all : isMadeUp(*own->plan, *floats->plan, others[i]))
                proof.madeUp.push_back(others[i].name);
            else
                all = false;
        if (all) {
            if (!proof.rearranged)
                proof.rearranged = m_told;
            proof.otherCaches.assign(m_caches.begin(), m_caches.end());
        }
    }

private:
    static bool areApart(const NetworkProof& proof)
    {
        return proof.withFloatWeights && proof.withFloatWeights->apart();
    }

    static bool isOther(double distance, const QuantParams& params, const std::vector<float>& x)
    {
        return distance > kLeastOther && distance > kTimesSteps * ofSteps(params, x);
    }

    /// Looks at one weight after the other, before anything is made of them all.
    bool hasOtherWeight() const
    {
        const FoldedConstants folded(m_pair);
        return std::ranges::any_of(m_pair.alignment->weights, [&](const WeightPair& weight) {
            const Quantizer& q = m_pair.quantView->quantizers()[weight.quantizer];
            const Tensor *codes = storedCodes(*m_pair.quantPlan, q), *meant = folded.of(weight);
            if (q.role != QuantRole::Weight || q.params.scale.empty() || !codes || !meant || meant->rank() < 2)
                return false;
            const std::vector<float> x = toFloats(floatElements(*meant, weight));
            return isOther(relativeDistance(x, storedElements(*codes, q.params, weight)), q.params, x);
        });
    }

    /// The nearest first.
    std::vector<OtherWeight> otherWeights(const Plan& own, const Plan& floats) const
    {
        std::vector<OtherWeight> others;
        for (const WeightPair& weight : m_pair.alignment->weights) {
            const Quantizer& q = m_pair.quantView->quantizers()[weight.quantizer];
            if (q.role != QuantRole::Weight || q.params.scale.empty())
                continue;
            const std::string constant = constantOf(own.graph(), q);
            const Tensor *stored = constantNamed(own, constant), *meant = constantNamed(floats, constant);
            if (!stored || !meant || stored->rank() < 2 || stored->count() != meant->count())
                continue;
            const std::vector<float> x = toFloats(*meant);
            const double distance = relativeDistance(x, toFloats(*stored));
            const std::string& name = m_pair.floatPlan->graph().value(weight.floatValue).name;
            if (isOther(distance, q.params, x))
                others.push_back({ name, constant, distance });
        }
        std::ranges::stable_sort(others, {}, &OtherWeight::distance);
        return others;
    }

    /// The name that the bypassed files have for what a quantizer's codes stand for; empty where it is not known.
    std::string constantOf(const Graph& bypassed, const Quantizer& q) const
    {
        const Graph& graph = m_pair.quantPlan->graph();
        for (const ValueId value : { q.codes, q.shown() })
            for (const char* tail : { "_columns", "" })
                if (value.valid()) {
                    const std::string& stored = graph.value(value).name;
                    std::string name = *tail ? stored + tail : realsName(stored);
                    if (bypassed.findValue(name).valid())
                        return name;
                }
        return {};
    }

    static const Tensor* constantNamed(const Plan& plan, const std::string& name)
    {
        const ValueId id = name.empty() ? ValueId() : plan.graph().findValue(name);
        return id.valid() ? plan.constant(id) : nullptr;
    }

    /// Relative distance that steps of these scales make.
    static double ofSteps(const QuantParams& params, const std::vector<float>& x)
    {
        constexpr double kOfUniform = 12; // variance of a step's width
        double steps = 0, squares = 0;
        for (const float scale : params.scale)
            steps += double(scale) * scale / double(params.scale.size());
        for (const float v : x)
            squares += double(v) * v / double(x.size());
        return squares > 0 ? std::sqrt(steps / kOfUniform / squares) : HUGE_VAL;
    }

    Result<std::vector<Tensor>> outputsOf(
        const std::shared_ptr<const Plan>& plan, const std::vector<ValueId>& ids, const ProofSample& sample) const
    {
        return runNetwork(plan, m_pair.floatPlan, ids, sample.inputs, m_work);
    }

    /// Of a network from the float model's outputs; nothing where it cannot be run or has no results.
    std::optional<Apart> apart(const std::shared_ptr<const Plan>& plan, const ProofSample& sample) const
    {
        std::vector<ValueId> ofFloat, ofOther;
        const auto outputs = comparableOutputs({ m_pair.floatPlan, plan }, m_pair);
        for (const ValueOfBoth& out : outputs) {
            ofFloat.push_back(out.f);
            ofOther.push_back(out.b);
        }
        const auto x = outputsOf(m_pair.floatPlan, ofFloat, sample), y = outputsOf(plan, ofOther, sample);
        if (outputs.empty() || !x.ok() || !y.ok())
            return std::nullopt;
        Apart found;
        for (size_t i = 0; i < outputs.size(); ++i) {
            const std::vector<float> a = toFloats((*x)[i]), b = toFloats((*y)[i]);
            const double distance = a.size() == b.size() ? relativeDistance(a, b) : HUGE_VAL;
            if (isHandedOn(m_pair.floatPlan->graph(), outputs[i].shown)) {
                found.caches[m_pair.floatPlan->graph().value(outputs[i].shown).name] = distance;
            } else if (!found.worst.floatValue.valid() || distance > found.worst.distance) {
                found.worst = { outputs[i].shown, distance };
            }
        }
        return found.worst.floatValue.valid() ? std::optional(found) : std::nullopt;
    }

    /// The file with all that it stores, beside what rounding the float model's weights does.
    bool measure(const std::shared_ptr<const Plan>& own)
    {
        const auto rounded = withRoundedWeights(m_pair);
        for (const ProofSample& sample : m_samples) {
            const auto found = apart(own, sample);
            auto explained = rounded.ok() ? apart(*rounded, sample) : std::nullopt;
            if (!found || !explained || !std::isfinite(found->worst.distance))
                return false;
            NetworkDistance here { .worstOutput = found->worst };
            here.explained = explained->worst.distance;
            here.tolerance = std::max(kSameNetwork, kOwnWeightsMargin * *here.explained);
            here.hidden = *here.explained > kMostExplained && !here.apart();
            here.sample = sample.number;
            if (!m_told || here.beyond() > m_told->beyond() || here.hidden > m_told->hidden)
                m_told = here;
            for (const auto& [cache, distance] : found->caches)
                if (std::isfinite(distance)
                    && distance > std::max(kSameNetwork, kProofMargin * explained->caches[cache]))
                    m_caches.insert(cache);
        }
        return m_told.has_value();
    }

    /// Put back alone, it takes the results further away.
    bool isMadeUp(const Plan& own, const Plan& floats, const OtherWeight& weight) const
    {
        GraphDraft draft(std::make_shared<const Model>(own.model()));
        draft.setConstant(weight.constant, *constantNamed(floats, weight.constant));
        const auto model = draft.build();
        if (!model.ok())
            return false;
        const auto sample = std::ranges::find(m_samples, m_told->sample, &ProofSample::number);
        const auto found
            = apart(Plan::make(*model, { KernelMode::Fast, ArithmeticProfile::Simulated, m_pair.lowered }), *sample);
        return found && found->worst.distance > std::max(kWorse * m_told->worstOutput.distance, kLeastMoved);
    }

    const ComparePair& m_pair;
    const std::vector<ProofSample>& m_samples;
    const WorkContext& m_work;
    std::optional<NetworkDistance> m_told; ///< on the sample that tells most
    std::set<std::string> m_caches; ///< that are others by more than rounding
};

} // namespace

void findMadeUpWeights(
    const ComparePair& pair, const std::vector<ProofSample>& samples, const WorkContext& work, NetworkProof& proof)
{
    if (!pair.quantizedReference && !pair.provenance && !samples.empty())
        MadeUpFinder(pair, samples, work).find(proof);
}

} // namespace qs
