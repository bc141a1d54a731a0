// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/pairs/pair_plan.h"

#include "core/analysis/pairs/float_activation.h"
#include "core/analysis/pairs/masked_values.h"
#include "core/graph/own_domain.h"
#include "core/qdq/qlinear_signature.h"
#include "core/tensor/convert.h"

#include <algorithm>

namespace qs {

namespace {

/// The last node of the unit inside which a value lies, if the unit can say what that value would be.
NodeId unitSaying(const Plan& plan, ValueId hidden)
{
    const NodeId producer = plan.graph().value(hidden).producer;
    for (size_t n = producer.valid() ? producer.index() : plan.graph().nodes().size(); n < plan.graph().nodes().size();
         ++n)
        if (const FusedUnit* unit = plan.unit(NodeId(n));
            unit && unit->node == producer && unit->lowered.offersUnrounded)
            return NodeId(n);
    return {};
}

/// Sequences and optionals are left out of comparisons.
bool areTensors(const ComparePair& pair, ValueId x, ValueId y)
{
    return pair.floatPlan->container(x).empty() && pair.quantPlan->container(y).empty();
}

/// The value before a quantizer, where it can be had.
void findBefore(const Plan& plan, const Quantizer& q, PairPlan& pair)
{
    if (!q.quantize.valid())
        return;
    const FusedUnit* unit = plan.unit(q.quantize);
    const auto& step = plan.step(q.quantize);
    if (q.real.valid() && !plan.hidden(q.real))
        pair.p = q.real;
    else if (unit ? unit->lowered.offersUnrounded
                  : qlinearSignature(plan.graph().node(q.quantize)) && step.lowered && step.lowered->offersUnrounded)
        pair.unrounded = q.quantize;
    pair.ownQuantizer = pair.p.valid() || pair.unrounded.valid();
}

/// Codes of a cache of which all is known.
void findCache(const Plan& plan, const Quantizer& q, PairPlan& pair)
{
    const NodeId reader = q.dequantized.valid() ? plan.graph().value(q.dequantized).producer : NodeId();
    if (!reader.valid() || pair.y != q.dequantized || !plan.graph().node(reader).is(kDequantizeCache, kOwnDomain)
        || !q.quantize.valid())
        return;
    const Node &node = plan.graph().node(reader), &attention = plan.graph().node(q.quantize);
    const Tensor* scale = plan.constant(node.inputs[1]);
    const auto& step = plan.step(q.quantize);
    if (!scale || !isFloat(scale->dtype()) || !step.lowered || !step.lowered->offersUnrounded)
        return;
    pair.cache = CodedCache { q.quantize, attention.outputs.size() > 2 && attention.outputs[2] == q.codes };
    pair.params = {};
    pair.params.dtype = node.attributes.integer("bits", 8) == 4 ? DType::Int4 : DType::Int8;
    pair.params.scale = toFloats(*scale);
    pair.ownQuantizer = true;
}

/// False where a size that is known in both is another one.
bool mayHaveOneShape(const ComparePair& pair, ValueId x, ValueId y)
{
    const auto &a = pair.floatPlan->facts().of(x).dims, &b = pair.quantPlan->facts().of(y).dims;
    if (!a || !b || a->size() != b->size())
        return true;
    return std::ranges::equal(
        *a, *b, [](const Dim& m, const Dim& n) { return !m.known() || !n.known() || m.value == n.value; });
}

/// Of outputs that no name tells of, those of the float model and of the other file that are left, one for each. As
/// they stand, unless shapes say that this cannot be; then the pairs of values tell, and shapes. `left` where they do
/// not.
std::vector<ValueId> inAnyOrder(const ComparePair& pair, const std::vector<ValueId>& floats, std::vector<ValueId> left)
{
    const std::vector<ValueId> asTheyStand = left;
    std::vector<ValueId> found;
    const auto take = [&](ValueId x, const auto& isIt) {
        const auto it = std::ranges::find_if(left, [&](ValueId y) { return mayHaveOneShape(pair, x, y) && isIt(y); });
        if (it == left.end())
            return false;
        found.push_back(*it);
        left.erase(it);
        return true;
    };
    for (size_t i = 0; i < floats.size(); ++i) {
        const ValueId x = floats[i];
        const auto paired = std::ranges::find(pair.alignment->values, x, &ValuePair::floatValue);
        const auto isPartner
            = [&](ValueId y) { return paired != pair.alignment->values.end() && paired->quantValue == y; };
        if (!take(x, isPartner) && !take(x, [&](ValueId y) { return y == asTheyStand[i]; })
            && !take(x, [](ValueId) { return true; }))
            return asTheyStand;
    }
    return found;
}

/// For each output of the float model that of the quantized file: of its name, or in its place among the others.
std::vector<ValueId> outputPartners(const ComparePair& pair)
{
    const Graph &fg = pair.floatPlan->graph(), &qg = pair.quantPlan->graph();
    std::vector<ValueId> partners(fg.outputs().size()), floats, left;
    std::vector<size_t> places;
    for (size_t i = 0; i < partners.size(); ++i) {
        const std::string& name = fg.value(fg.outputs()[i]).name;
        const auto named = std::ranges::find(qg.outputs(), name, [&](ValueId out) { return qg.value(out).name; });
        if (named != qg.outputs().end()) {
            partners[i] = *named;
        } else {
            floats.push_back(fg.outputs()[i]);
            places.push_back(i);
        }
    }
    std::ranges::copy_if(
        qg.outputs(), std::back_inserter(left), [&](ValueId out) { return !std::ranges::count(partners, out); });
    if (fg.outputs().size() != qg.outputs().size() || floats.size() != left.size())
        return partners;
    const bool inOrder
        = std::ranges::equal(floats, left, [&](ValueId x, ValueId y) { return mayHaveOneShape(pair, x, y); });
    const std::vector<ValueId> others = inOrder ? left : inAnyOrder(pair, floats, left);
    for (size_t i = 0; i < places.size(); ++i)
        partners[places[i]] = others[i];
    return partners;
}

bool mayBeMasked(const ComparePair& pair, const PairPlan& plan)
{
    const QuantParams& params = plan.params;
    if (params.scale.size() != 1 || !isInteger(params.dtype))
        return false;
    return -params.low() >= kMaskedDistance && !softmaxReaders(pair.floatPlan->graph(), plan.x).empty();
}

} // namespace

std::vector<PairPlan> planPairs(const ComparePair& pair)
{
    std::vector<PairPlan> plans;
    const Graph& qg = pair.quantPlan->graph();
    for (const ValuePair& vp : pair.alignment->values) {
        if (pair.floatPlan->blocked(vp.floatValue) || pair.quantPlan->blocked(vp.quantValue)
            || pair.quantPlan->constant(vp.quantValue) || pair.floatPlan->constant(vp.floatValue)
            || !areTensors(pair, vp.floatValue, vp.quantValue))
            continue;
        PairPlan plan;
        plan.pair = vp;
        plan.x = vp.floatValue;
        plan.y = vp.quantValue;
        const NodeId unit
            = pair.quantPlan->hidden(vp.quantValue) ? unitSaying(*pair.quantPlan, vp.quantValue) : NodeId();
        if (pair.quantPlan->hidden(vp.quantValue) && !unit.valid())
            continue; // inside a fused unit there is nothing to compare
        if (unit.valid() || vp.unrounded.valid()) {
            plan.beforeRounding = unit.valid() ? unit : vp.unrounded;
            if (unit.valid())
                plan.y = qg.node(unit).outputs[0];
        } else if (vp.quantizer) {
            const Quantizer& q = pair.quantView->quantizers()[*vp.quantizer];
            plan.params = q.params;
            if (q.dynamic) {
                plan.dynamicScale = q.scaleValue;
                plan.dynamicZero = q.zeroPointValue;
            }
            findBefore(*pair.quantPlan, q, plan);
            findCache(*pair.quantPlan, q, plan);
            if (dtypeBits(q.params.dtype) == 8 && isInteger(q.params.dtype) && q.codes.valid()
                && !pair.quantPlan->constant(q.codes))
                plan.codes = q.codes;
        }
        if (!plan.beforeRounding.valid()) {
            const FloatActivation found = floatActivation(
                pair, plan.x, plan.ownQuantizer ? OwnQuantizer { plan.p, &plan.params } : OwnQuantizer {}, plan.y);
            (found.lost ? plan.lost : plan.activation) = found.bounds;
            plan.activationName = found.lost ? std::string() : found.name;
            plan.lostNode = found.lost ? found.node : NodeId();
        }
        plan.maskedScores = mayBeMasked(pair, plan);
        plan.behind = activationBehind(pair, plan.y);
        plan.scoreRows = isReadByRows(*pair.floatPlan, plan.x);
        plan.addedMask
            = !plan.pair.quantizer && !plan.beforeRounding.valid() && isAddedToScores(*pair.floatPlan, plan.x);
        if (pair.equalized)
            if (const auto found = pair.equalized->find(plan.x); found != pair.equalized->end())
                plan.factors = std::shared_ptr<const ValueFactors>(pair.equalized, &found->second);
        plans.push_back(std::move(plan));
    }
    return plans;
}

std::vector<OutputPair> pairOutputs(const ComparePair& pair)
{
    const Graph& fg = pair.floatPlan->graph();
    const Graph& qg = pair.quantPlan->graph();
    const std::vector<ValueId> partners = outputPartners(pair);
    std::vector<OutputPair> list;
    for (size_t i = 0; i < fg.outputs().size(); ++i) {
        const ValueId x = fg.outputs()[i];
        const ValueId y = partners[i];
        if (!y.valid() || pair.floatPlan->blocked(x) || pair.quantPlan->blocked(y) || !areTensors(pair, x, y))
            continue;
        OutputPair out { fg.value(x).name, qg.value(y).name, x, y, std::nullopt, {} };
        if (const auto q = pair.quantView->ofQuantized(y); q && pair.quantView->quantizers()[*q].codes == y) {
            const ValueId read = pair.quantView->quantizers()[*q].dequantized;
            const NodeId reader = read.valid() ? qg.value(read).producer : NodeId();
            if (reader.valid() && qg.node(reader).is(kDequantizeCache, kOwnDomain))
                out.y = read; // parameters alone do not tell what such codes stand for
            else
                out.quantizer = q;
        }
        list.push_back(std::move(out));
    }
    std::vector<ValueId> values;
    for (const OutputPair& out : list)
        values.push_back(out.x);
    const auto tasks = outputTasks(*pair.floatPlan, values, pair.tasks);
    for (size_t i = 0; i < list.size(); ++i)
        list[i].task = tasks[i];
    return list;
}

} // namespace qs
