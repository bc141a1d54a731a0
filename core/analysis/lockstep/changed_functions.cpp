// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/lockstep/changed_functions.h"

#include "core/analysis/bypass/bypass.h"
#include "core/analysis/bypass/network_outputs.h"
#include "core/analysis/bypass/network_run.h"
#include "core/analysis/bypass/proof_distances.h"
#include "core/analysis/pairs/float_elements.h"
#include "core/analysis/rounding/added_factors.h"
#include "core/analysis/rounding/constant_differences.h"
#include "core/analysis/rounding/function_differences.h"
#include "core/analysis/rounding/relative_distance.h"
#include "core/graph/draft.h"
#include "core/qdq/qlinear_signature.h"
#include "core/tensor/convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string_view>
#include <utility>

namespace qs {

namespace {

constexpr size_t kMostMeasured = 8; ///< functions: each takes a run a sample
constexpr double kUnmoved = 1e-6; ///< an effect that rounding has, too
/// Times what is between the files: so much more cannot be hidden there.
constexpr double kMadeUpFor = 3;
/// The same where the files are apart, by several causes perhaps, which may take from each other.
constexpr double kManyTimes = 10;
/// Exchanged they are near, and apart by so many times more as they stand.
constexpr double kNear = 0.3, kFarther = 3;

/// Relatively; of whole numbers the share that is another. `shown`: the value of the float model.
double movedBy(const Tensor& a, const Tensor& b, const ProofSample& sample, ValueId shown)
{
    if (a.count() != b.count())
        return 1;
    if (isFloat(a.dtype()) && isFloat(b.dtype()))
        return relativeDistance(countedReals(sample, shown, a), countedReals(sample, shown, b));
    const std::vector<double> x = toDoubles(a), y = toDoubles(b);
    size_t others = 0;
    for (size_t i = 0; i < x.size(); ++i)
        others += x[i] != y[i];
    return x.empty() ? 0 : double(others) / double(x.size());
}

/// `value` in the shape and type of `old`; one element stands for all.
Tensor inPlaceOf(const Tensor& old, const Tensor& value)
{
    std::vector<float> values = toFloats(value);
    values.resize(size_t(old.count()), values.empty() ? 0 : values[0]);
    return convertedTo(Tensor::of<float>(old.shape(), values), old.dtype());
}

/// Of this name, stored or made by a node; null: it is none.
const Tensor* constantOf(const Plan& plan, const std::string& name)
{
    const ValueId value = plan.graph().findValue(name);
    return value.valid() ? plan.constant(value) : nullptr;
}

/// The quantized file's constants where these nodes of the float model read others.
Status putConstants(const Plan& plan, GraphDraft& draft, const std::vector<OtherConstant>& constants)
{
    for (const OtherConstant& other : constants) {
        const auto node = std::ranges::find(draft.nodes, other.floatNode, &DraftNode::origin);
        const bool reads = node != draft.nodes.end() && node->hasInput(other.slot);
        const Tensor* old = reads ? constantOf(plan, node->inputs[other.slot]) : nullptr;
        if (!old)
            return badInput("the constant is not there any more");
        const std::string name = node->inputs[other.slot] + "_other_" + std::to_string(other.floatNode.index());
        draft.setConstant(name, inPlaceOf(*old, other.value));
        node->inputs[other.slot] = name;
    }
    return {};
}

/// The float model with the quantized file's function in one place; the issue says why it cannot be had.
Result<std::shared_ptr<const Plan>> withFunction(const ComparePair& pair, const FunctionDifference& other)
{
    const Node& own = pair.quantPlan->graph().node(other.quantNode);
    GraphDraft draft(std::make_shared<const Model>(pair.floatPlan->model()));
    const auto node = std::ranges::find(draft.nodes, other.floatNode, &DraftNode::origin);
    if (node == draft.nodes.end())
        return badInput("the node is not there any more");
    if (!other.constants.empty()) {
        QS_CHECK(putConstants(*pair.floatPlan, draft, other.constants));
        QS_TRY(const auto model, draft.build());
        return Plan::make(model);
    }
    node->attributesChanged = true;
    if (!other.attribute.empty()) {
        Attributes attributes;
        for (const auto& [name, value] : node->attributes.all())
            if (name != other.attribute)
                attributes.set(name, value);
        if (!other.integers.empty())
            attributes.set(other.attribute, other.integers);
        else if (const AttributeValue* value = own.attributes.find(other.attribute))
            attributes.set(other.attribute, *value);
        node->attributes = std::move(attributes);
    } else if (own.opType != node->opType) {
        if (own.opType != floatOpType(own) || node->inputs.size() != 1)
            return badInput("the operator computes on codes");
        node->opType = own.opType;
        node->domain = own.domain;
        node->attributes = own.attributes;
        for (const auto& [domain, version] : pair.quantPlan->model().opsetImports)
            draft.opsets.try_emplace(domain, version);
    } else {
        for (size_t slot = 0; slot < std::min(node->inputs.size(), own.inputs.size()); ++slot)
            if (const Tensor* value = own.hasInput(slot) ? pair.quantPlan->constant(own.inputs[slot]) : nullptr;
                value && node->hasInput(slot) && constantOf(*pair.floatPlan, node->inputs[slot])) {
                const std::string name = node->name + "_other_" + std::to_string(slot);
                draft.setConstant(name, *value);
                node->inputs[slot] = name;
            }
    }
    QS_TRY(const auto model, draft.build());
    return Plan::make(model);
}

std::vector<ValueId> runnableOutputs(const Plan& plan)
{
    std::vector<ValueId> outputs;
    for (const ValueId id : plan.graph().outputs())
        if (id.valid() && !plan.blocked(id))
            outputs.push_back(id);
    return outputs;
}

/// What a function does to outputs.
struct Effect {
    double most = 0; ///< of the output that moves most, on the sample where it does
    ValueId output; ///< that one
    std::optional<double> told {}; ///< of the output by which the files are known to be apart, on its sample
};

class EffectMeter {
public:
    /// `told`: how the files are apart; null: they are not.
    EffectMeter(const ComparePair& pair, const std::vector<ProofSample>& samples, const NetworkDistance* told,
        const WorkContext& work)
        : m_pair(pair)
        , m_samples(samples)
        , m_told(told)
        , m_work(work)
        , m_outputs(runnableOutputs(*pair.floatPlan))
    {
    }

    /// Nothing where it cannot be run.
    std::optional<Effect> effectOf(const FunctionDifference& other)
    {
        const auto plan = withFunction(m_pair, other);
        if (!plan.ok())
            return std::nullopt;
        std::vector<ValueId> ids;
        for (const ValueId id : m_outputs)
            ids.push_back((*plan)->graph().findValue(m_pair.floatPlan->graph().value(id).name));
        if (!std::ranges::all_of(ids, [&](ValueId id) { return id.valid() && !(*plan)->blocked(id); }))
            return std::nullopt;
        Effect effect;
        for (size_t s = 0; s < m_samples.size(); ++s) {
            const auto now = runNetwork(*plan, m_pair.floatPlan, ids, m_samples[s].inputs, m_work);
            const auto* before = asItIs(s);
            if (!now.ok() || !before)
                return std::nullopt;
            for (size_t i = 0; i < ids.size(); ++i) {
                const double moved = movedBy((*before)[i], (*now)[i], m_samples[s], m_outputs[i]);
                if (!effect.output.valid() || moved > effect.most) {
                    effect.most = moved;
                    effect.output = m_outputs[i];
                }
                if (m_told && m_told->sample == m_samples[s].number && m_told->worstOutput.floatValue == m_outputs[i])
                    effect.told = moved;
            }
        }
        return effect;
    }

private:
    const std::vector<Tensor>* asItIs(size_t sample)
    {
        while (m_asItIs.size() <= sample) {
            auto found
                = runNetwork(m_pair.floatPlan, m_pair.floatPlan, m_outputs, m_samples[m_asItIs.size()].inputs, m_work);
            if (!found.ok())
                return nullptr;
            m_asItIs.push_back(std::move(found).value());
        }
        return &m_asItIs[sample];
    }

    const ComparePair& m_pair;
    const std::vector<ProofSample>& m_samples;
    const NetworkDistance* const m_told;
    const WorkContext& m_work;
    const std::vector<ValueId> m_outputs;
    std::vector<std::vector<Tensor>> m_asItIs; ///< outputs by sample
};

/// What numbers near 1 do that the quantized file multiplies by and the float model does not.
void measureAddedFactors(
    const ComparePair& pair, const std::vector<ProofSample>& samples, const WorkContext& work, NetworkProof& proof)
{
    const auto factors = addedFactors(pair);
    if (factors.empty())
        return;
    const auto pairs = planPairs(pair);
    const auto with = bypassWithFactors(pair, pairs), without = bypassQuantizers(pair, pairs);
    if (!with.ok() || !without.ok())
        return;
    std::vector<ValueId> ofWith, ofWithout, shown;
    for (const ValueOfBoth& out : comparableOutputs({ pair.floatPlan, without->plan }, pair)) {
        shown.push_back(out.shown);
        ofWithout.push_back(out.b);
        ofWith.push_back(with->plan->graph().findValue(without->plan->graph().value(out.b).name));
        if (!ofWith.back().valid() || with->plan->blocked(ofWith.back()))
            return;
    }
    double effect = 0;
    for (const ProofSample& sample : samples) {
        const auto x = runNetwork(without->plan, pair.floatPlan, ofWithout, sample.inputs, work);
        const auto y = runNetwork(with->plan, pair.floatPlan, ofWith, sample.inputs, work);
        if (!x.ok() || !y.ok())
            return;
        for (size_t i = 0; i < x->size(); ++i)
            effect = std::max(effect, movedBy((*x)[i], (*y)[i], sample, shown[i]));
    }
    if (effect <= kUnmoved)
        return;
    const Graph& graph = pair.floatPlan->graph();
    const NodeId place = placeOfAdded(pair, factors);
    const bool known = place.valid() && graph.node(place).hasOutput(0);
    proof.otherFunctions.push_back(addedFactorsText(pair, factors));
    proof.changed.push_back({ proof.otherFunctions.back(), known ? graph.node(place).name : std::string(),
        known ? graph.value(graph.node(place).outputs[0]).name : std::string(), effect, true });
}

/// What may be between the files at most, where they are shown to be one network.
double mostBetween(const NetworkProof& proof)
{
    for (const auto* d : { &proof.withFloatWeights, &proof.withFloatConstants, &proof.rearranged })
        if (*d && (*d)->same())
            return kMadeUpFor * std::max((*d)->worstOutput.distance, kSameNetwork);
    return HUGE_VAL;
}

/// How the files are apart; null where they are not, or no reals tell it.
const NetworkDistance* apartBy(const NetworkProof& proof)
{
    for (const auto* d : { &proof.withFloatWeights, &proof.withStoredWeights })
        if (!proof.same() && *d && (*d)->apart() && !(*d)->counted)
            return &**d;
    return nullptr;
}

ChangedFunction measuredChange(const ComparePair& pair, const FunctionDifference& other, const Effect& effect)
{
    const Graph& graph = pair.floatPlan->graph();
    const Node& node = graph.node(other.floatNode);
    ChangedFunction changed { other.text, node.name,
        node.hasOutput(0) ? graph.value(node.outputs[0]).name : std::string(), effect.most, !other.constants.empty() };
    if (effect.told)
        changed.output = graph.value(effect.output).name;
    return changed;
}

std::vector<size_t> asTheyCome(size_t count)
{
    std::vector<size_t> order(count);
    for (size_t i = 0; i < count; ++i)
        order[i] = i;
    return order;
}

std::string exchangedText(
    const std::string& kind, const std::string& a, const std::string& b, double with, double without)
{
    return fmt::format("the {}s {} and {} stand in each other's place: exchanged, the quantized file is {:.2g} of the "
                       "size of the outputs apart from the float model, and {:.2g} as they stand",
        kind, a, b, with, without);
}

/// Both files as they are, on one sample.
class EndExchanger {
public:
    EndExchanger(const ComparePair& pair, const ProofSample& sample, const WorkContext& work)
        : m_pair(pair)
        , m_sample(sample)
        , m_work(work)
    {
        const auto bypassed = bypassWithOwnConstants(pair, planPairs(pair)); // whose noise hides nothing
        m_plan = bypassed.ok() ? bypassed->plan : pair.writtenPlan ? pair.writtenPlan : pair.quantPlan;
        for (const OutputPair& out : pairOutputs(pair)) {
            const ValueId own = m_plan->graph().findValue(out.quantizedName);
            if (out.quantizer || !own.valid() || m_plan->blocked(own) || pair.floatPlan->blocked(out.x)
                || !isFloat(pair.floatPlan->facts().of(out.x).dtype))
                continue;
            m_names.push_back(out.name);
            m_ofFloat.push_back(out.x);
            m_own.push_back(own);
        }
    }

    std::string find()
    {
        const auto x = runNetwork(m_pair.floatPlan, m_pair.floatPlan, m_ofFloat, m_sample.inputs, m_work);
        const auto y = runNetwork(m_plan, m_pair.floatPlan, m_own, m_sample.inputs, m_work);
        if (m_own.empty() || !x.ok() || !y.ok())
            return {};
        const double asTheyStand = furthestOf(*x, *y, asTheyCome(x->size()));
        for (size_t i = 0; i < x->size(); ++i)
            for (size_t j = i + 1; j < x->size(); ++j) {
                std::vector<size_t> order = asTheyCome(x->size());
                std::swap(order[i], order[j]);
                if ((*x)[i].shape() != (*x)[j].shape())
                    continue;
                if (const double now = furthestOf(*x, *y, order); now < kNear && kFarther * now < asTheyStand)
                    return exchangedText("output", m_names[i], m_names[j], now, asTheyStand);
            }
        return exchangedInputs(*x, asTheyStand);
    }

private:
    double furthestOf(
        const std::vector<Tensor>& x, const std::vector<Tensor>& y, const std::vector<size_t>& order) const
    {
        double most = 0;
        for (size_t i = 0; i < x.size(); ++i)
            most = std::max(most, movedBy(x[i], y[order[i]], m_sample, m_ofFloat[i]));
        return std::isfinite(most) ? most : HUGE_VAL;
    }

    std::string exchangedInputs(const std::vector<Tensor>& x, double asTheyStand)
    {
        const auto& names = m_pair.floatPlan->graph().inputs();
        for (size_t i = 0; i < m_sample.inputs.size(); ++i)
            for (size_t j = i + 1; j < m_sample.inputs.size(); ++j) {
                std::vector<Tensor> inputs = m_sample.inputs;
                if (!inputs[i].valid() || !inputs[j].valid() || inputs[i].shape() != inputs[j].shape()
                    || inputs[i].dtype() != inputs[j].dtype())
                    continue;
                std::swap(inputs[i], inputs[j]);
                const auto y = runNetwork(m_plan, m_pair.floatPlan, m_own, inputs, m_work);
                if (!y.ok())
                    continue;
                if (const double now = furthestOf(x, *y, asTheyCome(x.size()));
                    now < kNear && kFarther * now < asTheyStand)
                    return exchangedText("input", m_pair.floatPlan->graph().value(names[i]).name,
                        m_pair.floatPlan->graph().value(names[j]).name, now, asTheyStand);
            }
        return {};
    }

    const ComparePair& m_pair;
    const ProofSample& m_sample;
    const WorkContext& m_work;
    std::shared_ptr<const Plan> m_plan;
    std::vector<std::string> m_names;
    std::vector<ValueId> m_ofFloat, m_own;
};

} // namespace

void measureChangedFunctions(
    const ComparePair& pair, const std::vector<ProofSample>& samples, const WorkContext& work, NetworkProof& proof)
{
    measureAddedFactors(pair, samples, work, proof);
    if (proof.otherFunctions.empty())
        return;
    std::vector<FunctionDifference> others = functionDifferences(pair);
    if (!proof.same())
        for (FunctionDifference& other : attributeDifferences(pair, AttributeKind::Shapes))
            others.push_back(std::move(other));
    std::erase_if(others, [](const FunctionDifference& other) { return !other.floatNode.valid(); });
    const double most = mostBetween(proof);
    const NetworkDistance* const told = apartBy(proof);
    EffectMeter meter(pair, samples, told, work);
    for (size_t i = 0; i < std::min(others.size(), kMostMeasured); ++i) {
        auto effect = meter.effectOf(others[i]);
        const bool more = effect && effect->told && *effect->told > kManyTimes * told->worstOutput.distance;
        if (effect && effect->told && *effect->told > kUnmoved)
            effect = Effect { *effect->told, told->worstOutput.floatValue, effect->told };
        if (effect && (effect->most <= kUnmoved || effect->most > most || more))
            std::erase(proof.otherFunctions, others[i].text);
        else if (effect)
            proof.changed.push_back(measuredChange(pair, others[i], *effect));
    }
    sortByEffect(pair, told, proof);
}

void sortByEffect(const ComparePair& pair, const NetworkDistance* told, NetworkProof& proof)
{
    const std::string output = told ? pair.floatPlan->graph().value(told->worstOutput.floatValue).name : std::string();
    std::ranges::stable_sort(proof.changed, std::greater {},
        [&](const ChangedFunction& changed) { return std::pair(changed.output == output, changed.effect); });
}

namespace {

/// Attributes that values have to be large enough for, or texts long enough.
bool dependsOnData(const FunctionDifference& other)
{
    constexpr std::array<std::string_view, 5> kBounds { "softcap", "local_window_size", "swiglu_limit", "lambd",
        "alpha" };
    return std::ranges::find(kBounds, other.attribute) != kBounds.end();
}

} // namespace

void findUnreached(
    const ComparePair& pair, const std::vector<ProofSample>& samples, const WorkContext& work, NetworkProof& proof)
{
    if (!proof.same())
        return;
    std::vector<FunctionDifference> others = rowDifferences(pair, proof.step);
    const size_t tables = std::min(others.size(), kMostMeasured);
    others.resize(tables);
    for (FunctionDifference& other : attributeDifferences(pair, AttributeKind::Numbers))
        if (dependsOnData(other) && others.size() < tables + kMostMeasured)
            others.push_back(std::move(other));
    EffectMeter meter(pair, samples, nullptr, work);
    for (const FunctionDifference& other : others)
        if (const auto effect = meter.effectOf(other); effect && effect->most <= kUnmoved)
            proof.unreached.push_back(other.text);
}

std::string exchangedEnds(const ComparePair& pair, const ProofSample& sample, const WorkContext& work)
{
    return EndExchanger(pair, sample, work).find();
}

} // namespace qs
