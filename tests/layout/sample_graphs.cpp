// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/layout/sample_graphs.h"

#include <cassert>

namespace qs::test {

namespace {

/// Short writing of nodes by names.
class Writer {
public:
    ValueId value(const std::string& name) { return m_builder.value(name); }

    void node(const std::string& type, const std::string& name, const std::vector<std::string>& inputs,
        const std::vector<std::string>& outputs, const std::string& domain = {})
    {
        Node node;
        node.name = name;
        node.opType = type;
        node.domain = domain;
        node.opset = 17;
        for (const std::string& in : inputs)
            node.inputs.push_back(value(in));
        for (const std::string& out : outputs)
            node.outputs.push_back(value(out));
        m_builder.addNode(std::move(node));
    }
    void constant(const std::string& name, Tensor tensor) { m_builder.setInitializer(value(name), std::move(tensor)); }
    void scale(const std::string& name, float s) { constant(name, Tensor::scalar(s)); }
    void input(const std::string& name) { m_builder.addInput(value(name)); }
    void output(const std::string& name) { m_builder.addOutput(value(name)); }

    /// QuantizeLinear and DequantizeLinear behind `name`, giving NAME_dq.
    void quantizers(const std::string& name)
    {
        node("QuantizeLinear", name + "_Q", { name, "s", "z" }, { name + "_q" });
        node("DequantizeLinear", name + "_DQ", { name + "_q", "s", "z" }, { name + "_dq" });
    }
    Graph finish()
    {
        auto graph = std::move(m_builder).finish();
        assert(graph.ok());
        return std::move(graph).value();
    }

private:
    GraphBuilder m_builder;
};

Tensor weight() { return Tensor::of<float>({ 4, 2, 3, 3 }, std::vector<float>(72, 0.5f)); }
Tensor weight2() { return Tensor::of<float>({ 4, 4, 1, 1 }, std::vector<float>(16, 0.5f)); }
Tensor codes() { return Tensor::of<int8_t>({ 4, 2, 3, 3 }, std::vector<int8_t>(72, 3)); }
Tensor codes2() { return Tensor::of<int8_t>({ 4, 4, 1, 1 }, std::vector<int8_t>(16, 3)); }

} // namespace

FoldedGraph boxesAndEdges(size_t boxes, const std::vector<std::pair<uint32_t, uint32_t>>& edges)
{
    FoldedGraph graph;
    graph.boxes.resize(boxes);
    for (size_t i = 0; i < boxes; ++i)
        graph.boxes[i].title = "Box " + std::to_string(i);
    for (const auto& [from, to] : edges)
        graph.edges.push_back({ from, to, {}, {}, {} });
    return graph;
}

FoldedGraph chain(size_t boxes)
{
    std::vector<std::pair<uint32_t, uint32_t>> edges;
    for (uint32_t i = 1; i < boxes; ++i)
        edges.emplace_back(i - 1, i);
    return boxesAndEdges(boxes, edges);
}

FoldedGraph diamond() { return boxesAndEdges(4, { { 0, 1 }, { 0, 2 }, { 1, 3 }, { 2, 3 } }); }

FoldedGraph residual(size_t blocks)
{
    std::vector<std::pair<uint32_t, uint32_t>> edges;
    uint32_t at = 0;
    for (size_t i = 0; i < blocks; ++i, at += 3)
        edges.insert(edges.end(), { { at, at + 1 }, { at + 1, at + 2 }, { at + 2, at + 3 }, { at, at + 3 } });
    return boxesAndEdges(at + 1, edges);
}

FoldedGraph wide(size_t width)
{
    std::vector<std::pair<uint32_t, uint32_t>> edges;
    const auto last = static_cast<uint32_t>(width + 1);
    for (uint32_t i = 1; i < last; ++i)
        edges.insert(edges.end(), { { 0, i }, { i, last } });
    return boxesAndEdges(width + 2, edges);
}

Graph floatGraph()
{
    Writer w;
    w.input("x");
    w.constant("w1", weight());
    w.constant("w2", weight2());
    w.node("Conv", "/features/conv_1/Conv", { "x", "w1" }, { "a" });
    w.node("Relu", "/features/Relu", { "a" }, { "b" });
    w.node("Conv", "/features/conv_2/Conv", { "b", "w2" }, { "c" });
    w.node("Add", "Add_7", { "b", "c" }, { "y" });
    w.output("y");
    return w.finish();
}

Graph repeatedBlocks()
{
    Writer w;
    w.input("x");
    w.node("Relu", "/a/block/0/Relu", { "x" }, { "a" });
    w.node("Relu", "/b/block/0/Relu", { "a" }, { "b" });
    w.node("Relu", "/head/Relu", { "b" }, { "y" });
    w.output("y");
    return w.finish();
}

Graph qdqGraph()
{
    Writer w;
    w.input("x");
    w.scale("s", 0.0391f);
    w.constant("z", Tensor::scalar<int8_t>(-128));
    w.scale("sw", 0.01f);
    w.constant("zw", Tensor::scalar<int8_t>(0));
    w.constant("w1_q", codes());
    w.constant("w2_q", codes2());
    w.quantizers("x");
    w.node("DequantizeLinear", "w1_DQ", { "w1_q", "sw", "zw" }, { "w1_dq" });
    w.node("Conv", "/features/conv_1/Conv", { "x_dq", "w1_dq" }, { "b" });
    w.quantizers("b");
    w.node("DequantizeLinear", "w2_DQ", { "w2_q", "sw", "zw" }, { "w2_dq" });
    w.node("Conv", "/features/conv_2/Conv", { "b_dq", "w2_dq" }, { "c" });
    w.quantizers("c");
    w.node("Add", "Add_7", { "b_dq", "c_dq" }, { "y0" });
    w.quantizers("y0");
    w.output("y0_dq");
    return w.finish();
}

Graph qoperatorGraph()
{
    Writer w;
    w.input("x");
    w.scale("s", 0.5f);
    w.constant("z", Tensor::scalar<uint8_t>(128));
    w.scale("sw", 0.01f);
    w.constant("zw", Tensor::scalar<int8_t>(0));
    w.constant("w1_q", codes());
    w.node("QuantizeLinear", "x_Q", { "x", "s", "z" }, { "x_q" });
    w.node("QLinearConv", "Conv_0_quant", { "x_q", "s", "z", "w1_q", "sw", "zw", "s", "z" }, { "y_q" });
    w.node("DequantizeLinear", "y_DQ", { "y_q", "s", "z" }, { "y" });
    w.output("y");
    return w.finish();
}

Graph dynamicGraph()
{
    Writer w;
    w.input("x");
    w.constant("w_q", Tensor::of<int8_t>({ 2, 3 }, { 1, 2, 3, 4, 5, 6 }));
    w.scale("sw", 0.01f);
    w.node("DynamicQuantizeLinear", "x_Q", { "x" }, { "x_q", "x_s", "x_z" });
    w.node("MatMulInteger", "fc_quant", { "x_q", "w_q", "x_z" }, { "acc" });
    w.node("Cast", "acc_Cast", { "acc" }, { "acc_f" });
    w.node("Mul", "scales_Mul", { "x_s", "sw" }, { "s2" });
    w.node("Mul", "y_Mul", { "acc_f", "s2" }, { "y" });
    w.output("y");
    return w.finish();
}

ConstantLookup initializersOf(const Graph& graph)
{
    return [&graph](ValueId id) -> const Tensor* {
        const auto& initializer = graph.value(id).initializer;
        return initializer ? &*initializer : nullptr;
    };
}

} // namespace qs::test
