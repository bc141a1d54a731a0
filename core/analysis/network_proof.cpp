// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/network_proof.h"

#include "core/analysis/bypass.h"
#include "core/engine/execution.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

double distanceOf(const Tensor& a, const Tensor& b)
{
    const std::vector<float> x = toFloats(a), y = toFloats(b);
    double signal = 0, noise = 0;
    for (size_t i = 0; i < std::min(x.size(), y.size()); ++i)
        if (std::isfinite(x[i]) && std::isfinite(y[i])) {
            signal += double(x[i]) * x[i];
            noise += (double(y[i]) - x[i]) * (double(y[i]) - x[i]);
        }
    if (x.size() != y.size())
        return 0; // not the same tensor to begin with
    return noise == 0 ? 0 : signal > 0 ? std::sqrt(noise / signal) : HUGE_VAL;
}

/// Both models on the same inputs, with values to look at.
class TwoRuns {
public:
    TwoRuns(std::shared_ptr<const Plan> f, std::shared_ptr<const Plan> b, uint64_t memoryLimit)
        : m_f(std::move(f))
        , m_b(std::move(b))
        , m_pool(memoryLimit ? memoryLimit : UINT64_MAX)
    {
    }
    bool run(const std::vector<std::pair<ValueId, ValueId>>& values, const std::vector<Tensor>& floatInputs,
        const std::vector<Tensor>& quantInputs, const CancelToken& cancel)
    {
        Demand f, b;
        for (const auto& [x, y] : values) {
            f.values.push_back(x);
            b.values.push_back(y);
        }
        const auto first = Schedule::make(m_f, std::move(f)), second = Schedule::make(m_b, std::move(b));
        if (!first.ok() || !second.ok())
            return false;
        Execution runF(*first, m_pool), runB(*second, m_pool);
        if (!runF.bind(floatInputs).ok() || !runB.bind(quantInputs).ok() || !runF.runAll(cancel).ok()
            || !runB.runAll(cancel).ok())
            return false;
        for (const auto& [x, y] : values)
            distances.push_back({ x, distanceOf(runF.get(x), runB.get(y)) });
        return true;
    }
    std::vector<ValueDistance> distances;

private:
    std::shared_ptr<const Plan> m_f, m_b;
    BufferPool m_pool;
};

/// The inputs in the order of another graph: by name, else by position.
std::vector<Tensor> inputsFor(const Graph& graph, const Graph& floatGraph, const std::vector<Tensor>& inputs)
{
    std::vector<Tensor> list(graph.inputs().size());
    for (size_t i = 0; i < list.size(); ++i) {
        if (i < inputs.size())
            list[i] = inputs[i];
        for (size_t k = 0; k < std::min(inputs.size(), floatGraph.inputs().size()); ++k)
            if (floatGraph.value(floatGraph.inputs()[k]).name == graph.value(graph.inputs()[i]).name)
                list[i] = inputs[k];
    }
    return list;
}

} // namespace

std::optional<NetworkProof> proveNetwork(
    const ComparePair& pair, const std::vector<Tensor>& inputs, uint64_t memoryLimit, const CancelToken& cancel)
{
    const std::vector<PairPlan> pairs = planPairs(pair);
    const auto found = bypassQuantizers(pair, pairs);
    if (!found || found->ownConstants > 0)
        return std::nullopt;
    const auto& bypassed = found->plan;
    const Graph& qg = pair.quantPlan->graph();
    const std::vector<Tensor> theirs = inputsFor(bypassed->graph(), pair.floatPlan->graph(), inputs);
    const auto partner = [&](ValueId id) { return bypassed->graph().findValue(qg.value(id).name); };
    std::vector<std::pair<ValueId, ValueId>> outputs, values;
    for (const OutputPair& out : pairOutputs(pair))
        if (partner(out.y).valid() && !bypassed->blocked(partner(out.y)))
            outputs.emplace_back(out.x, partner(out.y));
    TwoRuns runs(pair.floatPlan, bypassed, memoryLimit);
    if (outputs.empty() || !runs.run(outputs, inputs, theirs, cancel))
        return std::nullopt;
    NetworkProof proof;
    proof.worstOutput = *std::ranges::max_element(runs.distances, {}, &ValueDistance::distance);
    if (proof.worstOutput.distance <= kSameNetwork)
        return proof;
    for (const PairPlan& p : pairs)
        if (const ValueId y = partner(p.pair.quantValue); y.valid() && !bypassed->blocked(y) && !bypassed->constant(y))
            values.emplace_back(p.x, y);
    TwoRuns all(pair.floatPlan, bypassed, memoryLimit);
    if (all.run(values, inputs, theirs, cancel)) {
        const auto apart
            = std::ranges::find_if(all.distances, [](const ValueDistance& d) { return d.distance > kSameNetwork; });
        if (apart != all.distances.end())
            proof.firstApart = *apart;
    }
    return proof;
}

} // namespace qs
