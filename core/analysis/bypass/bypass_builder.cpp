// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/bypass/bypass_builder.h"

#include "core/analysis/bypass/stored_ranges.h"
#include "core/analysis/bypass/twin_constants.h"
#include "core/analysis/pairs/float_elements.h"
#include "core/analysis/rounding/added_factors.h"
#include "core/analysis/rounding/relative_distance.h"
#include "core/graph/own_domain.h"
#include "core/match/graph/canonical.h"
#include "core/qdq/qlinear_signature.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <span>

namespace qs {

namespace {

constexpr double kAlike = 0.3; ///< relative distance that rounding a weight to few bits explains
constexpr uint32_t kDisturbingSeed = 4211;
constexpr double kMiddleOfStep = 0.5;
constexpr int64_t kClipByInputs = 11; ///< opset from which Clip takes its bounds as inputs

/// By value: some output depends on it.
std::vector<bool> valuesInUse(const Graph& graph)
{
    std::vector<bool> used(graph.values().size(), false);
    std::vector<ValueId> open(graph.outputs().begin(), graph.outputs().end());
    while (!open.empty()) {
        const ValueId value = open.back();
        open.pop_back();
        if (!value.valid() || used[value.index()])
            continue;
        used[value.index()] = true;
        if (const NodeId by = graph.value(value).producer; by.valid()) {
            open.insert(open.end(), graph.node(by).inputs.begin(), graph.node(by).inputs.end());
            open.insert(open.end(), graph.node(by).captures.begin(), graph.node(by).captures.end());
        }
    }
    return used;
}

/// With an error for each element, anywhere in a step of the mean power.
Tensor withinStep(const Tensor& t, const std::vector<float>& scales)
{
    double squares = 0;
    for (const float scale : scales)
        squares += double(scale) * scale;
    const double step = std::sqrt(squares / double(scales.size()));
    std::mt19937 random(kDisturbingSeed);
    std::vector<float> values = toFloats(t);
    for (float& v : values)
        v += float(step * (double(random()) / double(std::mt19937::max()) - kMiddleOfStep));
    return Tensor::of<float>(t.shape(), values);
}

} // namespace

BypassBuilder::BypassBuilder(
    const ComparePair& pair, const std::vector<PairPlan>& pairs, Weights weights, BypassedRanges ranges)
    : m_pair(pair)
    , m_plan(pair.writtenPlan ? *pair.writtenPlan : *pair.quantPlan)
    , m_weights(weights)
    , m_ranges(ranges)
    , m_folded(weights == Weights::Stored ? FoldedConstants(pair.floatPlan) : FoldedConstants(pair)) // not read then
    , m_partners(pair)
    , m_used(valuesInUse(m_plan.graph()))
    , m_draft(std::make_shared<const Model>(m_plan.model()))
{
    for (size_t i = 0; i < pair.alignment->weights.size(); ++i)
        m_weightsOf[pair.alignment->weights[i].quantizer].push_back(i);
    for (const PairPlan& p : pairs)
        if (p.pair.quantizer && p.ownQuantizer)
            if (PairActivation& known = m_activations[*p.pair.quantizer]; !known.bounded())
                known = p.activation; // several float values may share a quantizer
    if (m_ranges == BypassedRanges::AsStored)
        addStoredRanges(pair, m_activations);
    shareActivations();
    for (size_t i = 0; i < m_draft.nodes.size(); ++i)
        for (const std::string& out : m_draft.nodes[i].outputs)
            m_makers[out] = i;
}

/// A value may have several quantizers, one for each of its readers; one of them is paired.
void BypassBuilder::shareActivations()
{
    const auto& quantizers = m_pair.quantView->quantizers();
    std::map<ValueId, PairActivation> byReal;
    for (const auto& [q, activation] : m_activations)
        if (activation.bounded() && quantizers[q].real.valid())
            byReal.emplace(quantizers[q].real, activation);
    for (uint32_t q = 0; q < quantizers.size(); ++q)
        if (const auto it = byReal.find(quantizers[q].real); it != byReal.end())
            m_activations.try_emplace(q, it->second);
}

Result<GraphDraft> BypassBuilder::make()
{
    QS_CHECK(refusedInside());
    if (Status status = bypassAll(); !status.ok())
        return m_refusal ? *m_refusal : std::move(status).issue();
    if (!m_keepsFactors)
        leaveFactorsOut();
    declareFloats();
    return std::move(m_draft);
}

void BypassBuilder::leaveFactorsOut()
{
    for (const AddedFactor& factor : addedFactors(m_pair)) {
        const auto node = std::ranges::find(m_draft.nodes, factor.node, &DraftNode::origin);
        if (node == m_draft.nodes.end() || !node->is("Mul") || node->inputs.size() != 2)
            continue;
        const std::string made = node->outputs[0], source = node->inputs[1 - factor.slot];
        setBounds(*node, made, source, PairActivation {});
    }
}

bool BypassBuilder::refuse(const Node& node, std::string why)
{
    if (!m_refusal)
        m_refusal = Issue { IssueKind::BadInput, node.opType + " " + std::move(why), {}, node.name, {}, {} };
    return false;
}

Status BypassBuilder::refusedInside() const
{
    for (const Node& node : m_plan.graph().nodes())
        for (const auto& body : subgraphs(node.attributes))
            for (const Node& inner : body->nodes())
                if (quantizes(inner))
                    return Issue { IssueKind::BadInput,
                        "a body of this " + node.opType + " has quantizers of its own (" + inner.opType + " '"
                            + inner.name + "'), which are not taken out",
                        {}, node.name, {}, {} };
    return {};
}

Status BypassBuilder::bypassAll()
{
    const auto& quantizers = m_pair.quantView->quantizers();
    const auto unknown = [&](uint32_t q) {
        const ValueId shown = quantizers[q].shown();
        Issue issue = badInput("what this quantizer stands for is not known");
        issue.tensor = shown.valid() ? nameOf(shown) : std::string();
        return issue;
    };
    for (uint32_t q = 0; q < quantizers.size(); ++q) {
        const bool activation = quantizers[q].role == QuantRole::Activation, used = isUsed(q);
        if (!activation && !used)
            continue; // it has no partner as a rule, and stays
        if (!(activation ? bypassActivation(q) : bypassConstant(q)) && used)
            return unknown(q);
    }
    m_refusal.reset(); // of what is not used
    std::set<size_t> left;
    const auto& nodes = m_plan.graph().nodes();
    const size_t count = m_draft.nodes.size();
    for (size_t i = 0; i < count; ++i) {
        const NodeId origin = m_draft.nodes[i].origin;
        const Node* const node = origin.valid() ? &nodes[origin.index()] : nullptr;
        if (!node || !node->hasOutput(0)) // what makes nothing needs no float form
            continue;
        if (m_draft.nodes[i].opType == node->opType && !bypassOperator(i, *node)) {
            refuse(*node, "has no float form that is known here");
            if (isUsed(node->outputs))
                return *m_refusal;
            m_refusal.reset();
            left.insert(i);
        }
    }
    for (uint32_t q = 0; q < quantizers.size(); ++q)
        if (isUsed(q) && quantizers[q].role != QuantRole::Activation && !m_taken.contains(q))
            return unknown(q); // read by an operator that is not known here
    leaveOut(left);
    return {};
}

void BypassBuilder::leaveOut(const std::set<size_t>& nodes)
{
    std::set<std::string> gone;
    std::vector<DraftNode> rest;
    for (size_t i = 0; i < m_draft.nodes.size(); ++i) {
        DraftNode& node = m_draft.nodes[i];
        const bool without = std::ranges::any_of(node.inputs, [&](const std::string& in) { return gone.contains(in); });
        if (without || nodes.contains(i))
            gone.insert(node.outputs.begin(), node.outputs.end());
        else
            rest.push_back(std::move(node));
    }
    m_draft.nodes = std::move(rest);
}

bool BypassBuilder::isUsed(std::span<const ValueId> values) const
{
    return std::ranges::any_of(values, [&](ValueId id) { return id.valid() && m_used[id.index()]; });
}

bool BypassBuilder::isUsed(uint32_t index) const
{
    const Quantizer& q = quantizer(index);
    return isUsed(std::array { q.codes, q.dequantized, q.shown() })
        || std::ranges::any_of(q.dequantize, [&](NodeId id) { return isUsed(m_plan.graph().node(id).outputs); });
}

DraftNode* BypassBuilder::makerOf(const std::string& value)
{
    const auto it = m_makers.find(value);
    return it == m_makers.end() ? nullptr : &m_draft.nodes[it->second];
}

PairActivation BypassBuilder::activationOf(uint32_t q) const
{
    const auto it = m_activations.find(q);
    return it == m_activations.end() ? PairActivation {} : it->second;
}

bool BypassBuilder::bypassActivation(uint32_t index)
{
    const Quantizer& q = quantizer(index);
    const NodeId reader = q.dequantized.valid() ? m_plan.graph().value(q.dequantized).producer : NodeId();
    if (reader.valid() && m_plan.graph().node(reader).is(kDequantizeCache, kOwnDomain))
        return become(nameOf(q.dequantized), nameOf(q.codes), PairActivation {}); // bypassCache makes floats of them
    if (q.dynamic) { // whoever reads the codes reads the real value, or what has moved its elements
        const bool moved = q.quantize.valid() && keepsParams(m_plan.graph().node(q.quantize));
        const std::string source = q.real.valid() ? nameOf(q.real) : moved ? nameOf(q.codes) : std::string();
        return !source.empty() && std::ranges::all_of(q.dequantize, [&](NodeId id) {
            return become(nameOf(m_plan.graph().node(id).outputs[0]), source, PairActivation {});
        });
    }
    const bool quantized = q.real.valid() && q.quantize.valid() && isQuantizeLinear(m_plan.graph().node(q.quantize));
    if (!quantized && !q.codes.valid())
        return false;
    if (!quantized && !q.real.valid()
        && !bypassTable(q.codes, q.params, q.dequantized.valid() ? realType(q.dequantized) : DType::Float32))
        return false;
    const PairActivation activation = quantized ? activationOf(index) : PairActivation {};
    if (quantized && q.codes.valid() && !become(nameOf(q.codes), nameOf(q.real), activation))
        return false;
    const std::string& source = quantized ? nameOf(q.real) : nameOf(q.codes);
    return std::ranges::all_of(q.dequantize,
        [&](NodeId id) { return become(nameOf(m_plan.graph().node(id).outputs[0]), source, activation); });
}

bool BypassBuilder::bypassConstant(uint32_t index)
{
    const Quantizer& q = quantizer(index);
    if (q.dequantize.empty())
        return true; // its reader takes it
    const auto name = constantFor(index);
    return name && std::ranges::all_of(q.dequantize, [&](NodeId id) {
        return become(nameOf(m_plan.graph().node(id).outputs[0]), *name, PairActivation {});
    });
}

std::optional<std::string> BypassBuilder::constantFor(uint32_t index)
{
    m_taken.insert(index);
    const std::string name = realsName(nameOf(quantizer(index).shown()));
    if (m_draft.constant(name))
        return name;
    auto value = valueFor(index);
    if (!value)
        return std::nullopt;
    m_draft.setConstant(name, std::move(*value));
    return name;
}

std::optional<Tensor> BypassBuilder::valueFor(uint32_t index)
{
    const Quantizer& q = quantizer(index);
    const Tensor* codes = storedCodes(m_plan, q);
    const DType type = q.dequantized.valid() ? realType(q.dequantized) : DType::Float32;
    const std::optional<Tensor> ofFloat = m_weights == Weights::Stored ? std::nullopt : floatValues(index, codes);
    if (ofFloat && (m_weights != Weights::Alike || !codes || q.params.scale.empty()))
        return convertedTo(*ofFloat, type);
    if (!codes || q.params.scale.empty())
        return std::nullopt;
    Tensor stored = Tensor::of<float>(codes->shape(), dequantized(*codes, q.params));
    if (ofFloat && relativeDistance(ofFloat->data<float>(), stored.data<float>()) <= kAlike)
        return convertedTo(*ofFloat, type);
    if (!ofFloat && isPaddedZero(q, stored))
        return convertedTo(stored, type);
    m_unlike += ofFloat.has_value();
    m_own.push_back(nameOf(q.shown()));
    if (m_disturbsOwn)
        stored = withinStep(stored, q.params.scale);
    return convertedTo(stored, type);
}

/// A zero that Pad alone reads: no weight, and stored without loss.
bool BypassBuilder::isPaddedZero(const Quantizer& q, const Tensor& stored) const
{
    constexpr size_t kFiller = 2;
    const Graph& graph = m_plan.graph();
    return stored.count() == 1 && stored.data<float>()[0] == 0 && !q.dequantize.empty()
        && std::ranges::all_of(q.dequantize, [&](NodeId id) {
               const auto& uses = graph.value(graph.node(id).outputs[0]).uses;
               return !uses.empty() && std::ranges::all_of(uses, [&](const Use& use) {
                   return use.node.valid() && use.slot == kFiller && graph.node(use.node).is("Pad");
               });
           });
}

std::optional<Tensor> BypassBuilder::floatValues(uint32_t index, const Tensor* codes) const
{
    if (auto moved = codes ? movedPartners(index, *codes) : std::nullopt)
        return moved;
    bool transposed = false;
    const Tensor* value = floatPartner(index, transposed);
    if (!value && codes)
        value = twinConstant(*m_pair.floatPlan, nameOf(quantizer(index).codes), *codes, quantizer(index).params);
    if (!value || !isFloat(value->dtype()) || (codes && codes->count() != value->count()))
        return std::nullopt;
    const Tensor floats = convertedTo(*value, DType::Float32);
    return transposed && value->rank() == 2 ? exchangedAxes(floats) : floats;
}

std::span<const size_t> BypassBuilder::weightsOf(uint32_t index) const
{
    const auto known = m_weightsOf.find(index);
    return known == m_weightsOf.end() ? std::span<const size_t>() : known->second;
}

std::optional<Tensor> BypassBuilder::movedPartners(uint32_t index, const Tensor& codes) const
{
    std::vector<float> values(size_t(codes.count()));
    std::vector<bool> known(values.size(), false);
    for (const size_t place : weightsOf(index)) {
        const WeightPair& pair = m_pair.alignment->weights[place];
        if (!pair.places)
            continue;
        const std::vector<float> floats = toFloats(*m_folded.of(pair));
        for (size_t i = 0; i < pair.places->codes.size(); ++i) {
            values[pair.places->codes[i]] = floats[pair.places->floats[i]];
            known[pair.places->codes[i]] = true;
        }
    }
    if (std::ranges::find(known, false) != known.end())
        return std::nullopt;
    return Tensor::of<float>(codes.shape(), values);
}

/// The float model's constant, or the bias that folding gave a layer of the float file.
const Tensor* BypassBuilder::floatPartner(uint32_t index, bool& transposed) const
{
    const auto& weights = m_pair.alignment->weights;
    if (const auto partners = weightsOf(index); !partners.empty()) {
        transposed = weights[partners[0]].transposed;
        return m_folded.of(weights[partners[0]]);
    }
    if (quantizer(index).role != QuantRole::Bias || m_folded.empty())
        return nullptr;
    for (const QuantUnit& unit : m_pair.quantView->units())
        if (std::ranges::find(unit.inputs, index) != unit.inputs.end())
            for (const WeightPair& weight : weights)
                if (weight.quantNode == unit.node)
                    return m_folded.at(weight.floatNode, 2);
    return nullptr;
}

DType BypassBuilder::realType(ValueId value) const
{
    const DType type = m_plan.facts().of(value).dtype;
    return type == DType::Float16 || type == DType::BFloat16 ? type : DType::Float32;
}

bool BypassBuilder::bypassTable(ValueId codes, const QuantParams& params, DType type)
{
    const Graph& graph = m_plan.graph();
    ValueId table = codes;
    std::vector<NodeId> movers;
    for (NodeId id = graph.value(table).producer; id.valid() && movesElements(graph.node(id));
         id = graph.value(table).producer) {
        movers.push_back(id);
        table = graph.node(id).inputs[0];
    }
    const Tensor* stored = m_plan.constant(table);
    if (movers.empty() || !stored)
        return true; // codes of another quantizer
    const std::string name = realsName(nameOf(table));
    DraftNode* node = makerOf(nameOf(graph.node(movers.back()).outputs[0]));
    if (!node || (!m_draft.constant(name) && params.scale.size() != 1))
        return refuse(graph.node(movers.back()), "reads codes with several scales");
    if (!m_draft.constant(name)) {
        const Tensor* partner = m_weights == Weights::Stored ? nullptr : m_partners.constant(movers.back(), 0);
        bool fits = partner && isFloat(partner->dtype()) && partner->shape() == stored->shape();
        if (!fits && m_weights != Weights::Stored) {
            partner = twinConstant(*m_pair.floatPlan, nameOf(table), *stored, params);
            fits = partner != nullptr;
        }
        const std::vector<float> own = dequantized(*stored, params);
        const auto weight = m_pair.quantView->ofQuantized(table);
        if (fits && (!weight || weightsOf(*weight).empty())) // nothing else compares it
            fits = relativeDistance(toFloats(*partner), own) <= kAlike;
        if (!fits)
            m_own.push_back(nameOf(table));
        Tensor reals = fits ? *partner : Tensor::of<float>(stored->shape(), own);
        if (m_disturbsOwn && !fits)
            reals = withinStep(reals, params.scale);
        m_draft.setConstant(name, convertedTo(reals, type));
    }
    node->inputs[0] = name;
    for (const NodeId id : movers) {
        const ValueId made = graph.node(id).outputs[0];
        m_draft.types[nameOf(made)] = { type, graph.value(made).type.dims, {} };
    }
    return true;
}

bool BypassBuilder::become(const std::string& value, const std::string& source, const PairActivation& bounds)
{
    DraftNode* node = makerOf(value);
    if (!node)
        return false;
    setBounds(*node, value, source, bounds);
    return true;
}

void BypassBuilder::setBounds(
    DraftNode& node, const std::string& value, const std::string& source, const PairActivation& bounds)
{
    node.opType = bounds.bounded() ? "Clip" : "Identity";
    node.domain.clear();
    node.attributes = {};
    node.attributesChanged = true;
    node.inputs = { source };
    node.outputs = { value };
    if (!bounds.bounded())
        return;
    if (m_draft.opsets[""] < kClipByInputs) {
        node.attributes.set("min", std::max(bounds.low, std::numeric_limits<float>::lowest()));
        node.attributes.set("max", std::min(bounds.high, std::numeric_limits<float>::max()));
        return;
    }
    node.inputs.insert(node.inputs.end(), { value + "_low", value + "_high" });
    m_draft.setConstant(value + "_low", Tensor::scalar(bounds.low));
    m_draft.setConstant(value + "_high", Tensor::scalar(bounds.high));
}

DType BypassBuilder::realTypeOfCodes(ValueId codes) const
{
    const auto index = m_pair.quantView->ofQuantized(codes);
    if (!index)
        return DType::Float32;
    const Quantizer& q = quantizer(*index);
    return q.real.valid() ? realType(q.real) : q.dequantized.valid() ? realType(q.dequantized) : DType::Float32;
}

void BypassBuilder::declareFloats()
{
    const Graph& graph = m_plan.graph();
    for (size_t v = 0; v < graph.values().size(); ++v) {
        const Value& value = graph.values()[v];
        if (m_draft.types.contains(value.name))
            continue;
        if (value.producer.valid() && isInteger(value.type.dtype) && m_pair.quantView->ofQuantized(ValueId(v)))
            m_draft.types[value.name] = { realTypeOfCodes(ValueId(v)), value.type.dims, {} };
        else if (value.producer.valid() && m_pair.quantView->scaledSums(ValueId(v)).valid())
            m_draft.types[value.name] = { DType::Float32, value.type.dims, {} };
    }
}

} // namespace qs
