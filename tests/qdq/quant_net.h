// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/ops/infer.h"
#include "core/qdq/quant_view.h"

namespace qs::test {

/// A graph under construction with one input x; nodes are named after their first outputs.
class Net {
public:
    Net()
    {
        const ValueId x = m_builder.value("x");
        m_builder.setType(x, { DType::Float32, toDims({ 1, 2, 4, 4 }), {} });
        m_builder.addInput(x);
    }
    void constant(const std::string& name, Tensor tensor)
    {
        m_builder.setInitializer(m_builder.value(name), std::move(tensor));
    }
    Node& op(const std::string& type, const std::vector<std::string>& inputs, const std::vector<std::string>& outputs)
    {
        Node node;
        node.name = outputs.front();
        node.opType = type;
        node.opset = 21;
        for (const std::string& name : inputs)
            node.inputs.push_back(m_builder.value(name));
        for (const std::string& name : outputs)
            node.outputs.push_back(m_builder.value(name));
        m_nodes.push_back(std::move(node));
        return m_nodes.back();
    }
    /// Scale and zero point NAME_scale, NAME_zero.
    template <class T> void params(const std::string& name, float scale, T zero)
    {
        constant(name + "_scale", Tensor::scalar(scale));
        constant(name + "_zero", Tensor::scalar(zero));
    }
    /// FROM -> QuantizeLinear -> FROM_codes -> DequantizeLinear -> FROM_dq, uint8 with scale 0.5 and zero point 3.
    void pair(const std::string& from)
    {
        params(from, 0.5f, uint8_t(3));
        op("QuantizeLinear", { from, from + "_scale", from + "_zero" }, { from + "_codes" });
        op("DequantizeLinear", { from + "_codes", from + "_scale", from + "_zero" }, { from + "_dq" });
    }
    void finish();
    const Graph& graph() const { return m_graph; }
    const QuantView& view() const { return m_view; }
    ValueId value(const std::string& name) const { return graph().findValue(name); }
    bool plumbing(const std::string& name) const { return m_view.isPlumbing(graph().findNode(name)); }
    /// The quantizer that has this value on either side; null when none has.
    const Quantizer* at(const std::string& name) const
    {
        const auto index = m_view.ofValue(value(name));
        return index ? &m_view.quantizers()[*index] : nullptr;
    }
    const QuantUnit* unit(const std::string& name) const
    {
        for (const QuantUnit& u : m_view.units())
            if (u.node == graph().findNode(name))
                return &u;
        return nullptr;
    }

private:
    GraphBuilder m_builder;
    std::vector<Node> m_nodes;
    Graph m_graph;
    InferredFacts m_facts;
    QuantView m_view;
};

/// Codes 0, 7, 14, ... of this shape.
Tensor int8Weights(Shape shape);

/// x -> Q -> DQ -> Conv(stored int8 weights, int32 bias) -> conv -> Q -> DQ
void addQdqConv(Net& net);

/// x -> DynamicQuantizeLinear -> MatMulInteger -> Cast -> Mul(x_scale * w_scale)
void addDynamicMatMul(Net& net);

} // namespace qs::test
