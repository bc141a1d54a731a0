// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/network_proof.h"

#include "core/engine/execution.h"
#include "core/graph/draft.h"
#include "core/qdq/qlinear_signature.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace qs {

namespace {

constexpr int64_t kClipByInputs = 11; ///< opset from which Clip takes its bounds as inputs

/// The quantized file without quantization.
class Bypass {
public:
    Bypass(const ComparePair& pair, const std::vector<PairPlan>& pairs)
        : m_pair(pair)
        , m_plan(pair.writtenPlan ? *pair.writtenPlan : *pair.quantPlan)
        , m_draft(std::make_shared<const Model>(m_plan.model()))
    {
        for (const PairPlan& p : pairs)
            if (p.pair.quantizer && p.ownQuantizer)
                m_activations[*p.pair.quantizer] = p.activation;
        for (size_t i = 0; i < m_draft.nodes.size(); ++i)
            for (const std::string& out : m_draft.nodes[i].outputs)
                m_makers[out] = i;
    }

    std::shared_ptr<const Plan> make()
    {
        const auto& quantizers = m_pair.quantView->quantizers();
        for (uint32_t q = 0; q < quantizers.size(); ++q)
            if (!(quantizers[q].role == QuantRole::Activation ? bypassActivation(q) : replaceConstant(q)))
                return nullptr;
        const auto model = m_draft.build();
        return model.ok() ? Plan::make(*model) : nullptr;
    }

private:
    const std::string& nameOf(ValueId id) const { return m_plan.graph().value(id).name; }

    DraftNode* makerOf(const std::string& value)
    {
        const auto it = m_makers.find(value);
        return it == m_makers.end() ? nullptr : &m_draft.nodes[it->second];
    }

    bool bypassActivation(uint32_t index)
    {
        const Quantizer& q = m_pair.quantView->quantizers()[index];
        if (q.dynamic || !q.real.valid() || q.dequantize.empty() || !q.quantize.valid()
            || !isQuantizeLinear(m_plan.graph().node(q.quantize)))
            return false;
        const auto it = m_activations.find(index);
        const PairActivation activation = it == m_activations.end() ? PairActivation {} : it->second;
        for (NodeId id : q.dequantize)
            if (!become(nameOf(m_plan.graph().node(id).outputs[0]), nameOf(q.real), activation))
                return false;
        return true;
    }

    bool replaceConstant(uint32_t index)
    {
        const auto& weights = m_pair.alignment->weights;
        const auto partner = std::ranges::find(weights, index, &WeightPair::quantizer);
        const Quantizer& q = m_pair.quantView->quantizers()[index];
        if (partner == weights.end() || q.dequantize.empty())
            return false;
        const Tensor* value = m_pair.floatPlan->constant(partner->floatValue);
        if (!value || value->dtype() != DType::Float32 || partner->transposed)
            return false;
        const std::string name = nameOf(m_plan.graph().node(q.dequantize[0]).outputs[0]) + "_float";
        m_draft.setConstant(name, *value);
        return std::ranges::all_of(q.dequantize,
            [&](NodeId id) { return become(nameOf(m_plan.graph().node(id).outputs[0]), name, PairActivation {}); });
    }

    /// The node that made `value` passes on `source`, within bounds.
    bool become(const std::string& value, const std::string& source, const PairActivation& bounds)
    {
        DraftNode* node = makerOf(value);
        if (!node || m_draft.opsets[""] < kClipByInputs)
            return false;
        node->opType = bounds.bounded() ? "Clip" : "Identity";
        node->domain.clear();
        node->attributes = {};
        node->attributesChanged = true;
        node->inputs = { source };
        if (!bounds.bounded())
            return true;
        node->inputs.push_back(value + "_low");
        node->inputs.push_back(value + "_high");
        m_draft.setConstant(value + "_low", Tensor::scalar(bounds.low));
        m_draft.setConstant(value + "_high", Tensor::scalar(bounds.high));
        return true;
    }

    const ComparePair& m_pair;
    const Plan& m_plan;
    GraphDraft m_draft;
    std::map<uint32_t, PairActivation> m_activations; ///< by quantizer
    std::map<std::string, size_t> m_makers;
};

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
    TwoRuns(std::shared_ptr<const Plan> f, std::shared_ptr<const Plan> b)
        : m_f(std::move(f))
        , m_b(std::move(b))
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
    const ComparePair& pair, const std::vector<Tensor>& inputs, const CancelToken& cancel)
{
    if (pair.quantView->form() != QuantForm::Qdq)
        return std::nullopt;
    const std::vector<PairPlan> pairs = planPairs(pair);
    const auto bypassed = Bypass(pair, pairs).make();
    if (!bypassed)
        return std::nullopt;
    const Graph& qg = pair.quantPlan->graph();
    const std::vector<Tensor> theirs = inputsFor(bypassed->graph(), pair.floatPlan->graph(), inputs);
    const auto partner = [&](ValueId id) { return bypassed->graph().findValue(qg.value(id).name); };
    std::vector<std::pair<ValueId, ValueId>> outputs, values;
    for (const OutputPair& out : pairOutputs(pair))
        if (partner(out.y).valid() && !bypassed->blocked(partner(out.y)))
            outputs.emplace_back(out.x, partner(out.y));
    TwoRuns runs(pair.floatPlan, bypassed);
    if (outputs.empty() || !runs.run(outputs, inputs, theirs, cancel))
        return std::nullopt;
    NetworkProof proof;
    proof.worstOutput = *std::ranges::max_element(runs.distances, {}, &ValueDistance::distance);
    if (proof.worstOutput.distance <= kSameNetwork)
        return proof;
    for (const PairPlan& p : pairs)
        if (const ValueId y = partner(p.pair.quantValue); y.valid() && !bypassed->blocked(y) && !bypassed->constant(y))
            values.emplace_back(p.x, y);
    TwoRuns all(pair.floatPlan, bypassed);
    if (all.run(values, inputs, theirs, cancel)) {
        const auto apart
            = std::ranges::find_if(all.distances, [](const ValueDistance& d) { return d.distance > kSameNetwork; });
        if (apart != all.distances.end())
            proof.firstApart = *apart;
    }
    return proof;
}

} // namespace qs
