// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/qdq/quant_net.h"

namespace qs::test {

void Net::finish()
{
    for (Node& node : m_nodes)
        m_builder.addNode(std::move(node));
    m_graph = *std::move(m_builder).finish();
    m_facts = inferFacts(m_graph);
    m_view = QuantView::of(m_graph, [this](ValueId id) {
        const auto& value = m_facts.facts[id.index()].value;
        return value ? &*value : nullptr;
    });
}

Tensor int8Weights(Shape shape)
{
    Tensor t = Tensor::allocate(DType::Int8, std::move(shape));
    for (size_t i = 0; i < size_t(t.count()); ++i)
        t.fill<int8_t>()[i] = int8_t(i * 7);
    return t;
}

void addQdqConv(Net& net)
{
    net.pair("x");
    net.constant("w", int8Weights({ 3, 2, 1, 1 }));
    net.constant("w_scales", Tensor::of<float>({ 3 }, { 0.1f, 0.2f, 0.3f }));
    net.op("DequantizeLinear", { "w", "w_scales" }, { "w_dq" }).attributes.set("axis", int64_t(0));
    net.constant("b", Tensor::of<int32_t>({ 3 }, { 1, 2, 3 }));
    net.constant("b_scales", Tensor::of<float>({ 3 }, { 0.05f, 0.1f, 0.15f }));
    net.op("DequantizeLinear", { "b", "b_scales" }, { "b_dq" }).attributes.set("axis", int64_t(0));
    net.op("Conv", { "x_dq", "w_dq", "b_dq" }, { "conv" });
    net.pair("conv");
}

void addDynamicMatMul(Net& net)
{
    net.op("DynamicQuantizeLinear", { "x" }, { "xq", "xs", "xz" });
    net.constant("w", int8Weights({ 4, 3 }));
    net.constant("wz", Tensor::of<int8_t>({ 3 }, { 1, 2, 3 }));
    net.constant("ws", Tensor::of<float>({ 3 }, { 0.1f, 0.2f, 0.3f }));
    net.op("MatMulInteger", { "xq", "w", "xz", "wz" }, { "sums" });
    net.op("Cast", { "sums" }, { "floats" }).attributes.set("to", int64_t(DType::Float32));
    net.op("Mul", { "xs", "ws" }, { "scales" });
    net.op("Mul", { "floats", "scales" }, { "y" });
}

} // namespace qs::test
