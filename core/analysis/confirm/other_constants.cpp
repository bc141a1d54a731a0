// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/confirm/other_constants.h"

#include "core/analysis/bypass/bypass.h"
#include "core/analysis/bypass/network_outputs.h"
#include "core/analysis/bypass/proof_distances.h"
#include "core/base/work/parallel.h"
#include "core/graph/handed_on.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace qs {

namespace {

constexpr size_t kMostFeeds = 64; ///< each takes a run of three networks
constexpr double kBeside = 0.1; ///< part of what rounded weights do: what moves less was rounded with them

using Constants = std::vector<WeightRounding>;

/// A network under the quantized file's names.
struct Variant {
    std::shared_ptr<const Plan> plan;
    std::vector<ValueId> outputs; ///< by output
};

class ConstantRuns {
public:
    ConstantRuns(const ComparePair& pair, const WorkContext& work)
        : m_pair(pair)
        , m_work(work)
        , m_pairs(planPairs(pair))
    {
    }

    /// Without the quantizers and with the float model's in place of `taken`: the most that the others move an output
    /// by, on any of these samples. Nothing where it cannot be run.
    std::optional<NetworkDistance> movedWithout(const Constants& taken, const std::vector<ProofSample>& samples)
    {
        const auto bypassed = bypassWithFloatConstants(m_pair, m_pairs, taken);
        if (!bypassed.ok())
            return std::nullopt;
        std::vector<ValueOfBoth> outputs = comparableOutputs({ m_pair.floatPlan, bypassed->plan }, m_pair);
        const auto handedOn = [&](const ValueOfBoth& out) { return isHandedOn(m_pair.floatPlan->graph(), out.shown); };
        if (!std::ranges::all_of(outputs, handedOn))
            std::erase_if(outputs, handedOn);
        Variant floats { m_pair.floatPlan, {} }, others { bypassed->plan, {} };
        for (const ValueOfBoth& out : outputs) {
            floats.outputs.push_back(out.f);
            others.outputs.push_back(out.b);
        }
        std::optional<NetworkDistance> most;
        for (const ProofSample& sample : samples) {
            const auto reals = realsOf({ floats, others }, outputs, sample);
            for (size_t i = 0; i < reals.size(); ++i) {
                const double distance = distanceBetween({ reals[i][0], reals[i][1] }, true);
                if (!most || distance > most->worstOutput.distance) {
                    most = NetworkDistance { .worstOutput = { outputs[i].shown, distance } };
                    most->sample = sample.number;
                }
            }
        }
        return most;
    }

    struct LeftError {
        double left = 1; ///< see NetworkProof::errorWithout
        ValueId output; ///< of the float model
    };
    std::optional<LeftError> errorWithout(const Constants& taken, const AllSamples& all) const
    {
        const auto changed = quantizedWithFloatConstants(m_pair, taken);
        const auto bypassed = bypassWithFloatConstants(m_pair, m_pairs, taken);
        if (!changed.ok() || !bypassed.ok())
            return std::nullopt;
        Variant floats { m_pair.floatPlan, {} }, now { m_pair.writtenPlan ? m_pair.writtenPlan : m_pair.quantPlan, {} },
            without { *changed, {} };
        std::vector<ValueOfBoth> outputs = comparableOutputs({ m_pair.floatPlan, bypassed->plan }, m_pair);
        std::erase_if(outputs, [&](const ValueOfBoth& out) {
            const std::string& name = bypassed->plan->graph().value(out.b).name;
            return !isReal(*now.plan, name) || !isReal(*without.plan, name);
        });
        for (const ValueOfBoth& out : outputs) {
            const std::string& name = bypassed->plan->graph().value(out.b).name;
            floats.outputs.push_back(out.f);
            now.outputs.push_back(now.plan->graph().findValue(name));
            without.outputs.push_back(without.plan->graph().findValue(name));
        }
        std::vector<std::pair<double, double>> squares(outputs.size()); // with its own constants, without
        const size_t count = std::min(all.count, kMostFeeds);
        for (size_t n = 0; n < count && !m_work.cancel.cancelled(); ++n) {
            const auto sample = all.at(n * all.count / count);
            if (!sample.ok())
                return std::nullopt;
            const auto reals = realsOf({ floats, now, without }, outputs, *sample);
            for (size_t i = 0; i < reals.size(); ++i)
                if (const auto& r = reals[i]; r[0].size() == r[1].size() && r[0].size() == r[2].size()) {
                    squares[i].first += squaresBetween(r[0], r[1]);
                    squares[i].second += squaresBetween(r[0], r[2]);
                }
        }
        std::optional<LeftError> least;
        for (size_t i = 0; i < squares.size(); ++i)
            if (const auto& [error, left] = squares[i]; error > 0 && std::isfinite(error))
                if (const double part = std::sqrt(left / error); !least || part < least->left)
                    least = LeftError { part, outputs[i].shown };
        return least;
    }

private:
    bool isReal(const Plan& plan, const std::string& name) const
    {
        const ValueId id = plan.graph().findValue(name);
        return id.valid() && !plan.blocked(id) && holdsReals(m_pair, plan, id);
    }

    /// By output, of each of the networks; empty where one of them cannot be run.
    std::vector<std::vector<std::vector<float>>> realsOf(
        const std::vector<Variant>& networks, const std::vector<ValueOfBoth>& outputs, const ProofSample& sample) const
    {
        std::vector<Result<std::vector<Tensor>>> made(networks.size(), cancelled());
        parallelFor(networks.size(), m_work.threadCount(), [&](size_t i, size_t) {
            made[i] = runNetwork(networks[i].plan, m_pair.floatPlan, networks[i].outputs, sample.inputs, m_work);
        });
        if (!std::ranges::all_of(made, [](const auto& m) { return m.ok(); }))
            return {};
        std::vector<std::vector<std::vector<float>>> reals(outputs.size());
        for (size_t i = 0; i < outputs.size(); ++i)
            for (size_t n = 0; n < networks.size(); ++n) {
                const Tensor& t = (*made[n])[i];
                reals[i].push_back(countedReals(sample, outputs[i].shown, t.shape(),
                    realsHeld(m_pair, *networks[n].plan, networks[n].outputs[i], t)));
            }
        return reals;
    }

    const ComparePair& m_pair;
    const WorkContext& m_work;
    const std::vector<PairPlan> m_pairs;
};

/// They hold nothing of the float model's any more, or rows of other ones: no rounding.
bool holdsOthers(const WeightRounding& r) { return r.zeros || !r.holds.empty() || !r.rows.empty(); }

} // namespace

void measureOtherConstants(const ComparePair& pair, const std::vector<ProofSample>& samples, const AllSamples& all,
    const WorkContext& work, NetworkProof& proof)
{
    if (!proof.withFloatConstants || !proof.withFloatWeights)
        return;
    ConstantRuns runs(pair, work);
    Constants taken, rounded, others;
    for (const WeightRounding& r : proof.step.roundings) {
        if (!r.precision)
            (r.other() ? others : rounded).push_back(r);
        if (!r.precision)
            taken.push_back(r);
    }
    if (!rounded.empty() && !others.empty())
        if (auto alone = runs.movedWithout(rounded, samples)) {
            const double beside = kBeside * proof.withFloatWeights->worstOutput.distance;
            if (alone->worstOutput.distance <= beside && std::ranges::none_of(others, holdsOthers)) {
                std::erase_if(proof.step.roundings, [](const WeightRounding& r) { return r.other(); });
            } else {
                proof.withFloatWeights = std::move(alone);
                taken = others;
            }
        }
    const AllSamples chosen { samples.size(), [&](size_t i) { return Result<ProofSample>(samples[i]); } };
    if (const auto error = runs.errorWithout(taken, all.count > 0 ? all : chosen)) {
        proof.errorWithout = error->left;
        proof.errorOutput = error->output;
    }
}

} // namespace qs
