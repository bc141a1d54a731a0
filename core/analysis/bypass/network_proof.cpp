// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/bypass/network_proof.h"

#include "core/analysis/bypass/bypass.h"
#include "core/analysis/bypass/stored_weights.h"
#include "core/analysis/pairs/fed_model.h"
#include "core/engine/run/execution.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

/// 0 for tensors of different sizes: not the same tensor to begin with.
double distanceOf(const Tensor& a, const Tensor& b)
{
    return a.count() == b.count() ? relativeDistance(toFloats(a), toFloats(b)) : 0;
}

/// The two networks that are run, and how far their outputs are apart.
struct TwoNetworks {
    std::shared_ptr<const Plan> f, b; ///< `b`: of the quantized file, under its names
    const ComparePair& pair;
    const std::vector<PairPlan>& pairs;
    const WorkContext& work;

    using ValueList = std::vector<std::pair<ValueId, ValueId>>;
    /// The pair's values by name in the two networks; `at` tells which of the float model's values they are.
    void add(ValueId x, ValueId y, ValueList& values, std::vector<ValueId>& at) const
    {
        const ValueId one = f->graph().findValue(pair.floatPlan->graph().value(x).name);
        const ValueId other = b->graph().findValue(pair.quantPlan->graph().value(y).name);
        if (!one.valid() || !other.valid() || f->blocked(one) || b->blocked(other) || b->constant(other))
            return;
        values.emplace_back(one, other);
        at.push_back(x);
    }

    std::optional<std::vector<ValueDistance>> distances(
        const ValueList& values, const std::vector<ValueId>& at, const std::vector<Tensor>& inputs) const
    {
        Demand ofFloat, ofBypassed;
        for (const auto& [x, y] : values) {
            ofFloat.values.push_back(x);
            ofBypassed.values.push_back(y);
        }
        const auto first = Schedule::make(f, std::move(ofFloat)), second = Schedule::make(b, std::move(ofBypassed));
        if (values.empty() || !first.ok() || !second.ok())
            return std::nullopt;
        BufferPool pool(work.memoryBytes());
        Execution runF(*first, pool), runB(*second, pool);
        const FedModel fed { CarriedState(b), CarriedState(pair.floatPlan) };
        if (!runF.bind(inputs).ok() || !runB.bind(fed.inputs(inputs)).ok() || !runF.runAll(work.cancel).ok()
            || !runB.runAll(work.cancel).ok())
            return std::nullopt;
        std::vector<ValueDistance> found;
        for (size_t i = 0; i < values.size(); ++i)
            found.push_back({ at[i], distanceOf(runF.get(values[i].first), runB.get(values[i].second)) });
        return found;
    }

    std::optional<NetworkDistance> distance(const std::vector<Tensor>& inputs) const
    {
        ValueList outputs, values;
        std::vector<ValueId> atOutputs, atValues;
        for (const OutputPair& out : pairOutputs(pair))
            add(out.x, out.y, outputs, atOutputs);
        const auto ofOutputs = distances(outputs, atOutputs, inputs);
        if (!ofOutputs)
            return std::nullopt;
        NetworkDistance found { *std::ranges::max_element(*ofOutputs, {}, &ValueDistance::distance), {} };
        if (found.worstOutput.distance <= kSameNetwork)
            return found;
        for (const PairPlan& p : pairs)
            add(p.x, p.pair.quantValue, values, atValues);
        if (const auto all = distances(values, atValues, inputs)) {
            const auto apart
                = std::ranges::find_if(*all, [](const ValueDistance& d) { return d.distance > kSameNetwork; });
            if (apart != all->end())
                found.firstApart = *apart;
        }
        return found;
    }
};

} // namespace

double relativeDistance(std::span<const float> x, std::span<const float> y)
{
    double signal = 0, noise = 0;
    for (size_t i = 0; i < std::min(x.size(), y.size()); ++i)
        if (std::isfinite(x[i]) && std::isfinite(y[i])) {
            signal += double(x[i]) * x[i];
            noise += (double(y[i]) - x[i]) * (double(y[i]) - x[i]);
        }
    return noise == 0 ? 0 : signal > 0 ? std::sqrt(noise / signal) : HUGE_VAL;
}

std::optional<NetworkProof> proveNetwork(
    const ComparePair& pair, const std::vector<Tensor>& inputs, const WorkContext& work)
{
    const std::vector<PairPlan> pairs = planPairs(pair);
    NetworkProof proof;
    if (const auto bypassed = bypassQuantizers(pair, pairs); bypassed && bypassed->ownConstants == 0)
        proof.withFloatWeights = TwoNetworks { pair.floatPlan, bypassed->plan, pair, pairs, work }.distance(inputs);
    if (proof.withFloatWeights && proof.withFloatWeights->worstOutput.distance <= kSameNetwork)
        return proof;
    if (const auto stored = bypassWithStoredWeights(pair, pairs))
        proof.withStoredWeights
            = TwoNetworks { stored->floatPlan, stored->quantPlan, pair, pairs, work }.distance(inputs);
    return proof.withFloatWeights || proof.withStoredWeights ? std::optional(proof) : std::nullopt;
}

} // namespace qs
