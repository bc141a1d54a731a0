// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/pairs/node_partners.h"

#include "core/analysis/pairs/float_elements.h"
#include "core/qdq/qlinear_signature.h"
#include "core/tensor/convert.h"

#include <array>
#include <map>
#include <string_view>

namespace qs {

namespace {

/// What quantizers put behind a node's name.
constexpr std::array<std::string_view, 6> kTails { "_Q4", "_Q8", "_Q2", "_quant", "_Bnb4", "_NF4" };

bool alike(const Node& a, const Node& b)
{
    static const std::map<std::string_view, std::string_view> families { { "Gemm", "MatMul" },
        { "MatMulFpQ4", "MatMul" }, { "DynamicQuantizeLSTM", "LSTM" } };
    const auto type = [](const Node& node) {
        const std::string t = floatOpType(node);
        const auto it = families.find(t);
        return it == families.end() ? t : std::string(it->second);
    };
    return type(a) == type(b);
}

} // namespace

NodePartners::NodePartners(const ComparePair& pair)
    : m_pair(pair)
    , m_float(pair.floatPlan->graph())
    , m_quant(pair.quantPlan->graph())
{
    for (const WeightPair& weight : pair.alignment->weights)
        add(weight.quantNode, weight.floatNode);
    const auto& quantizers = pair.quantView->quantizers();
    for (const ValuePair& value : pair.alignment->values) {
        ValueId made = value.quantValue;
        if (value.quantizer && *value.quantizer < quantizers.size()) {
            const Quantizer& q = quantizers[*value.quantizer];
            made = q.real.valid() ? q.real : q.codes;
        }
        if (made.valid())
            add(m_quant.value(made).producer, m_float.value(value.floatValue).producer);
    }
}

void NodePartners::add(NodeId quantNode, NodeId floatNode)
{
    if (quantNode.valid() && floatNode.valid() && alike(m_quant.node(quantNode), m_float.node(floatNode)))
        m_floatNode.try_emplace(quantNode, floatNode);
}

NodeId NodePartners::byName(const Node& node) const
{
    NodeId found = node.name.empty() ? NodeId() : m_float.findNode(node.name);
    for (const std::string_view tail : kTails)
        if (!found.valid() && node.name.size() > tail.size() && node.name.ends_with(tail))
            found = m_float.findNode(node.name.substr(0, node.name.size() - tail.size()));
    return found.valid() && alike(m_float.node(found), node) ? found : NodeId();
}

NodeId NodePartners::of(NodeId quantNode) const
{
    const auto it = m_floatNode.find(quantNode);
    return it == m_floatNode.end() ? byName(m_quant.node(quantNode)) : it->second;
}

const Tensor* NodePartners::constant(NodeId quantNode, size_t slot) const
{
    const NodeId id = of(quantNode);
    return id.valid() && m_float.node(id).hasInput(slot) ? m_pair.floatPlan->constant(m_float.node(id).inputs[slot])
                                                         : nullptr;
}

std::optional<Tensor> NodePartners::matrix(NodeId quantNode, int64_t depth, int64_t columns) const
{
    const Tensor* stored = constant(quantNode, 1);
    if (!stored || stored->rank() != 2 || !isFloat(stored->dtype()))
        return std::nullopt;
    const Node& node = m_float.node(of(quantNode));
    const bool exchanged = node.opType == "Gemm" && node.attributes.integer("transB", 0) != 0;
    const Shape wanted = exchanged ? Shape { columns, depth } : Shape { depth, columns };
    if (stored->shape() != wanted)
        return std::nullopt;
    const Tensor floats = Tensor::of<float>(stored->shape(), toFloats(*stored));
    return exchanged ? exchangedAxes(floats) : floats;
}

} // namespace qs
