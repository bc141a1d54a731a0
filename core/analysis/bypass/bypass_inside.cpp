// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/bypass/bypass_builder.h"
#include "core/analysis/bypass/twin_constants.h"
#include "core/analysis/pairs/float_elements.h"
#include "core/graph/domains.h"
#include "core/qdq/block_weights.h"

#include <cstring>
#include <utility>

/// Operators that take floats, give floats and quantize inside.
namespace qs {

/// A weight the other way round: the float model's own where that is the same, which is in memory once then.
Tensor BypassBuilder::columnsOf(ValueId codes, const Tensor& rows) const
{
    Tensor columns = exchangedAxes(rows);
    bool transposed = false;
    const auto index = m_pair.quantView->ofQuantized(codes);
    const Tensor* partner = index ? floatPartner(*index, transposed) : nullptr;
    const bool same = partner && partner->dtype() == DType::Float32 && partner->layout() == Layout::Plain
        && partner->shape() == columns.shape()
        && std::memcmp(partner->bytes().data(), columns.bytes().data(), columns.byteCount()) == 0;
    return same ? *partner : columns;
}

/// What the operator multiplies by, as the float model has it: where the stored form cannot be told in scales and zero
/// points (rows in another order, tables of values), the partner has to be known.
std::optional<std::string> BypassBuilder::blockWeightFor(const Node& node)
{
    const std::string name = nameOf(node.inputs[1]) + "_columns";
    if (m_draft.constant(name))
        return name;
    const DType type = realType(node.outputs[0]);
    if (const auto rows = floatInput(node, 1)) {
        m_draft.setConstant(name, convertedTo(columnsOf(node.inputs[1], *m_draft.constant(*rows)), type));
        if (m_plan.graph().value(node.inputs[1]).uses.size() == 1)
            m_draft.removeConstant(*rows);
        return name;
    }
    const NodeId id = m_plan.graph().value(node.outputs[0]).producer;
    const auto matrix = m_partners.matrix(id, node.attributes.integer("K", 0), node.attributes.integer("N", 0));
    if (!matrix || m_weights == Weights::Stored) {
        refuse(node,
            m_weights == Weights::Stored ? "has weights that scales and zero points do not tell"
                                         : "has no partner in the float model that its weight is taken from");
        return std::nullopt;
    }
    m_draft.setConstant(name, convertedTo(*matrix, type));
    return name;
}

/// A weight in blocks: rows and columns of a product's lie the other way round.
bool BypassBuilder::bypassBlocks(size_t at, const Node& node)
{
    constexpr size_t kBias = 5;
    if (node.opType == "GatherBlockQuantized") {
        const auto table = floatInput(node, 0);
        if (!table || !node.hasInput(1))
            return refuse(node, "has a table whose codes are not known");
        computeFloat(at, "Gather", {}, { *table, plainInput(node, 1) });
        m_draft.nodes[at].attributes = {};
        m_draft.nodes[at].attributes.set("axis", node.attributes.integer("gather_axis", 0));
        return true;
    }
    const auto weight = node.hasInput(0) && node.hasInput(1) ? blockWeightFor(node) : std::nullopt;
    if (!weight)
        return false;
    computeFloat(at, "MatMul", {}, { plainInput(node, 0), *weight });
    m_draft.nodes[at].attributes = {};
    addBehind(at, plainInput(node, kBias));
    return true;
}

bool BypassBuilder::bypassRecurrent(size_t at, const Node& node)
{
    constexpr size_t kInputsOfLstm = 8;
    const NodeId id = m_plan.graph().value(node.outputs[0]).producer;
    std::vector<std::string> inputs;
    for (size_t slot = 0; slot < kInputsOfLstm; ++slot)
        inputs.push_back(plainInput(node, slot));
    for (const size_t slot : { size_t(1), size_t(2) }) {
        const Tensor* partner = m_weights == Weights::Stored ? nullptr : m_partners.constant(id, slot);
        if (!partner)
            return refuse(node,
                m_weights == Weights::Stored ? "keeps its weights in another order than LSTM"
                                             : "has no LSTM in the float model that its weights are taken from");
        inputs[slot] = realsName(inputs[slot]);
        m_draft.setConstant(inputs[slot], convertedTo(*partner, DType::Float32));
    }
    for (const int slot : { 1, 2 })
        if (const auto index = m_pair.quantView->ofQuantized(node.inputs[size_t(slot)]))
            m_taken.insert(*index);
    computeFloat(at, "LSTM", {}, std::move(inputs));
    return true;
}

bool BypassBuilder::bypassExperts(size_t at, const Node& node)
{
    if (node.hasInput(kRouterWeights))
        return refuse(node, "has shares of its experts beside router_probs, which MoE has not");
    const NodeId id = m_plan.graph().value(node.outputs[0]).producer;
    if (m_weights != Weights::Stored && !m_partners.of(id).valid())
        return refuse(node, "has no MoE in the float model that its weights are taken from");
    std::vector<std::string> inputs { plainInput(node, 0), plainInput(node, 1) };
    for (const ExpertSlots& slots : kExpertSlots) { // of MoE weight and bias in turn
        const auto weight = expertsFor(node, slots.plain, slots.codes);
        if (!weight)
            return refuse(node, "has weights whose codes are not known, and no such ones in the float model");
        inputs.push_back(*weight);
        inputs.push_back(plainInput(node, slots.codes + 2));
    }
    computeFloat(at, "MoE", kMicrosoftDomain, std::move(inputs));
    Attributes attributes;
    for (const char* name : { "k", "activation_type", "activation_alpha", "activation_beta", "swiglu_fusion",
             "swiglu_limit", "use_sparse_mixer" })
        if (const AttributeValue* value = node.attributes.find(name))
            attributes.set(name, *value);
    attributes.set("normalize_routing_weights", int64_t(1)); // QMoE takes the Softmax over the chosen experts alone
    m_draft.nodes[at].attributes = std::move(attributes);
    return true;
}

/// Weights of one product of all experts; "" where it has none.
std::optional<std::string> BypassBuilder::expertsFor(const Node& node, size_t slot, size_t own)
{
    constexpr const char* kTail = "_experts";
    if (!node.hasInput(own))
        return std::string();
    const std::string name = nameOf(node.inputs[own]) + kTail;
    const DType type = realType(node.outputs[0]);
    if (const auto stored = floatInput(node, int(own))) {
        m_draft.setConstant(name, convertedTo(*m_draft.constant(*stored), type));
        return name;
    }
    const NodeId id = m_plan.graph().value(node.outputs[0]).producer;
    const Tensor* partner = m_weights == Weights::Stored ? nullptr : m_partners.constant(id, slot);
    if (!partner)
        return std::nullopt;
    m_draft.setConstant(name, convertedTo(*partner, type));
    return name;
}

/// Keys and values that are kept as codes are kept as they are.
bool BypassBuilder::bypassCache(size_t at, const Node& node)
{
    constexpr size_t kKeyScale = 12;
    if (node.attributes.text("k_quant_type", "NONE") == "NONE"
        && node.attributes.text("v_quant_type", "NONE") == "NONE")
        return true;
    const Graph& graph = m_plan.graph();
    const bool twoInByte = node.attributes.integer("kv_cache_bit_width", 8) == 4;
    const auto becomesFloat = [&](ValueId cache) {
        Value value = graph.value(cache);
        if (auto& dims = value.type.dims; twoInByte && dims && dims->size() == 4 && (*dims)[3].known())
            (*dims)[3].value *= 2;
        m_draft.types[value.name] = { realType(node.inputs[0]), value.type.dims, {} };
    };
    for (const size_t slot : { 3, 4 }) {
        if (node.hasInput(slot) && !graph.isInput(node.inputs[slot]))
            return refuse(node, "reads keys and values as codes that another node hands over");
        if (node.hasInput(slot))
            becomesFloat(node.inputs[slot]);
    }
    for (const size_t slot : { 1, 2 })
        if (slot < node.outputs.size() && node.outputs[slot].valid())
            becomesFloat(node.outputs[slot]);
    DraftNode& draft = m_draft.nodes[at];
    for (const char* name : { "k_quant_type", "v_quant_type" })
        draft.attributes.set(name, std::string("NONE"));
    draft.attributes.set("kv_cache_bit_width", int64_t(0));
    draft.attributesChanged = true;
    if (draft.inputs.size() > kKeyScale)
        draft.inputs.resize(kKeyScale);
    return true;
}

} // namespace qs
