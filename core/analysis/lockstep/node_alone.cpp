// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/lockstep/node_alone.h"

#include "core/analysis/pairs/float_elements.h"
#include "core/base/rounding.h"
#include "core/qdq/qlinear_signature.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

/// The node on codes whose value before rounding is the pair's; invalid where it is another one.
NodeId unroundedOf(const PairPlan& plan) { return plan.unrounded.valid() ? plan.unrounded : plan.beforeRounding; }

/// The node whose work the pair's value is, before its output quantizer.
NodeId nodeOf(const ComparePair& pair, const PairPlan& plan)
{
    if (const NodeId offers = unroundedOf(plan); offers.valid()) {
        const FusedUnit* unit = pair.quantPlan->unit(offers);
        return unit ? unit->node : offers;
    }
    const ValueId made = plan.p.valid() ? plan.p : plan.y;
    return pair.quantPlan->graph().value(made).producer;
}

struct AloneInput {
    size_t slot;
    ValueId floatValue;
    const QuantParams* params; ///< null: passed as it is
    bool codes; ///< the node wants codes
};

/// nullopt when an activation input has no partner.
std::optional<std::vector<AloneInput>> inputsOf(const ComparePair& pair, NodeId id)
{
    const Plan& plan = *pair.quantPlan;
    const Node& node = plan.graph().node(id);
    if (!plan.step(id).lowered || pair.quantView->isPlumbing(id) || node.opType == "ConvInteger"
        || node.opType == "MatMulInteger")
        return std::nullopt;
    std::vector<AloneInput> list;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
        const ValueId in = node.inputs[i];
        if (!in.valid() || plan.constant(in))
            continue;
        const auto partner
            = std::ranges::find_if(pair.alignment->values, [&](const ValuePair& p) { return p.quantValue == in; });
        const auto quantizer = pair.quantView->ofQuantized(in);
        const ValuePair* found = partner != pair.alignment->values.end() ? &*partner : nullptr;
        if (!found && quantizer)
            for (const ValuePair& p : pair.alignment->values)
                if (p.quantizer == quantizer)
                    found = &p;
        if (!found)
            return std::nullopt;
        if (!quantizer) {
            list.push_back({ i, found->floatValue, nullptr, false });
            continue;
        }
        const Quantizer& q = pair.quantView->quantizers()[*quantizer];
        const bool packed = q.codes == in && dtypeBits(q.params.dtype) < 8;
        if (q.dynamic || q.params.scale.size() != 1 || packed || q.params.codes().high <= q.params.codes().low)
            return std::nullopt;
        list.push_back({ i, found->floatValue, &q.params, q.codes == in });
    }
    return list;
}

/// x through the quantizer: codes, or the dequantized floats.
Tensor quantized(const Tensor& x, const AloneInput& input, const Shape& shape, BufferPool& pool)
{
    if (!input.params)
        return x;
    const QuantParams& p = *input.params;
    const auto range = p.codes();
    const int32_t zero = p.zeroPoint.empty() ? 0 : p.zeroPoint[0];
    const Tensor plain = toPlain(x);
    const auto from = toFloats(plain);
    auto each = [&](auto write) {
        for (size_t i = 0; i < from.size(); ++i)
            write(i, quantizeOne(from[i], p.scale[0], zero, int32_t(range.low), int32_t(range.high)));
    };
    if (!input.codes) {
        Tensor out = pool.allocate(DType::Float32, shape);
        each([&](size_t i, int32_t q) { out.fill<float>()[i] = dequantizeOne(q, p.scale[0], zero); });
        return out;
    }
    Tensor out = pool.allocate(p.dtype, shape);
    if (dtypeBits(p.dtype) == 16)
        each([&](size_t i, int32_t q) { out.fill<uint16_t>()[i] = static_cast<uint16_t>(q); });
    else
        each([&](size_t i, int32_t q) { out.fill<uint8_t>()[i] = static_cast<uint8_t>(q); });
    return out;
}

} // namespace

std::vector<ValueId> nodeAloneInputs(const ComparePair& pair, const PairPlan& plan)
{
    const NodeId node = nodeOf(pair, plan);
    std::vector<ValueId> values;
    if (!node.valid())
        return values;
    if (const auto inputs = inputsOf(pair, node))
        for (const AloneInput& in : *inputs)
            values.push_back(in.floatValue);
    return values;
}

void measureNodeAlone(const ComparePair& pair, const PairPlan& plan, const Execution& f, const Tensor& x,
    BufferPool& pool, const std::optional<ElementRuns>& runs, PairSums& sums)
{
    const NodeId id = nodeOf(pair, plan);
    const auto inputs = id.valid() ? inputsOf(pair, id) : std::nullopt;
    if (!inputs || inputs->empty())
        return;
    const Node& node = pair.quantPlan->graph().node(id);
    const LoweredNode& lowered = *pair.quantPlan->step(id).lowered;
    std::vector<Tensor> held(node.inputs.size());
    std::vector<const Tensor*> pointers(node.inputs.size(), nullptr);
    for (size_t i = 0; i < node.inputs.size(); ++i)
        pointers[i] = node.inputs[i].valid() ? pair.quantPlan->constant(node.inputs[i]) : nullptr;
    for (const AloneInput& in : *inputs) {
        if (!f.has(in.floatValue))
            return;
        const Tensor& value = f.get(in.floatValue);
        held[in.slot] = toPlain(quantized(value, in, value.shape(), pool));
        pointers[in.slot] = &held[in.slot];
    }
    std::vector<Tensor> outputs(node.outputs.size());
    StepContext context(pointers, outputs, pool);
    Tensor unrounded;
    const bool before = unroundedOf(plan).valid(), asks = before && lowered.offersUnrounded;
    if (asks)
        context.askUnrounded(&unrounded);
    if (!lowered.run(context).ok())
        return;
    const ValueId made = before ? node.outputs[0] : plan.p.valid() ? plan.p : plan.y;
    const auto slot = std::ranges::find(node.outputs, made) - node.outputs.begin();
    const Tensor& result = asks ? unrounded : outputs[size_t(slot) < outputs.size() ? size_t(slot) : 0];
    const bool rounded = before && !asks && !isFloat(result.dtype()); // codes, which the pair is not
    if (!result.valid() || result.count() != x.count() || rounded)
        return;
    // An integer output without an offer before rounding (MaxPool on codes) is compared as it is.
    const auto a = toFloats(x);
    std::vector<float> buffer;
    Tensor keep;
    const float* b = asFloats(result, Layout::Plain, plan.params.scale.empty() ? nullptr : &plan.params, buffer, keep);
    for (const auto& [begin, end] : runs.value_or(ElementRuns { { 0, a.size() } }))
        for (size_t i = begin; i < end; ++i) {
            const double value = std::clamp(b[i], plan.activation.low, plan.activation.high);
            if (!std::isfinite(a[i]) || !std::isfinite(value))
                continue;
            ++sums.count;
            sums.xx += double(a[i]) * a[i];
            sums.nodeEe += (value - a[i]) * (value - a[i]);
        }
}

} // namespace qs
