// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/layout/sample_graphs.h"

#include "core/graph/origin/name_scopes.h"

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

namespace {

/// Nodes after each other, each named after its scope or by a number.
class Chain {
public:
    Chain(Writer& writer, bool scopes)
        : m_writer(writer)
        , m_scopes(scopes)
    {
    }
    std::string add(const std::string& type, const std::string& scope, const std::vector<std::string>& inputs)
    {
        const std::string number = std::to_string(m_count++);
        m_writer.node(type, m_scopes ? "/" + scope + "/" + type : type + "_" + number, inputs, { "t" + number });
        return "t" + number;
    }

private:
    Writer& m_writer;
    bool m_scopes;
    size_t m_count = 0;
};

} // namespace

Graph transformer(size_t layers, bool scopes, bool otherEnds)
{
    Writer w;
    w.input("x");
    w.input("mask");
    w.constant("w", weight2());
    Chain chain(w, scopes);
    const std::string mask = chain.add("Neg", "embeddings", { "mask" });
    std::string at = chain.add("Gather", "embeddings", { "x", "w" });
    for (size_t i = 0; i < layers; ++i) {
        const std::string layer = "encoder/layer." + std::to_string(i) + "/";
        const std::string q = chain.add("MatMul", layer + "attn", { at, "w" });
        const std::string k = chain.add("MatMul", layer + "attn", { at, "w" });
        const std::string scores
            = chain.add("Add", layer + "attn", { chain.add("Mul", layer + "attn", { q, k }), mask });
        const std::string mixed
            = chain.add("MatMul", layer + "attn", { chain.add("Softmax", layer + "attn", { scores }), "w" });
        const std::string middle = chain.add(otherEnds && i == 0 ? "Sub" : "Add", layer + "norm", { at, mixed });
        const std::string wide
            = chain.add("Erf", layer + "mlp", { chain.add("MatMul", layer + "mlp", { middle, "w" }) });
        at = chain.add(otherEnds && i + 1 == layers ? "Sub" : "Add", layer + "mlp", { middle, wide });
    }
    const std::string head = chain.add("Tanh", "head", { at });
    w.node("Identity", "last", { head }, { "y" });
    w.output("y");
    return w.finish();
}

Graph decoder(size_t layers)
{
    Writer w;
    w.input("x");
    w.input("all");
    for (size_t i = 0; i < layers; ++i)
        w.input("past." + std::to_string(i));
    std::string at = "x";
    for (size_t i = 0; i < layers; ++i) {
        const std::string number = std::to_string(i), layer = "/layers." + number + "/";
        w.node("Mul", layer + "Mul", { at, "all" }, { "scaled" + number });
        w.node("Add", layer + "Add", { "scaled" + number, "past." + number }, { "present." + number });
        w.node("Tanh", layer + "Tanh", { "present." + number }, { "layer" + number });
        w.output("present." + number);
        at = "layer" + number;
    }
    w.node("Relu", "/head/Relu", { at }, { "y" });
    w.output("y");
    return w.finish();
}

Graph toldByMetadata(const Graph& named)
{
    GraphBuilder builder;
    for (const Value& value : named.values()) { // ids stay what they are
        const ValueId id = builder.value(value.name);
        builder.setType(id, value.type);
        if (value.initializer)
            builder.setInitializer(id, *value.initializer);
    }
    for (const ValueId id : named.inputs())
        builder.addInput(id);
    for (const ValueId id : named.outputs())
        builder.addOutput(id);
    for (Node node : named.nodes()) {
        std::string path, list = "['', ";
        for (const std::string& scope : nameScopes(node.name)) {
            path += (path.empty() ? "" : ".") + scope;
            list += "'" + path + "', ";
        }
        const auto text = std::make_shared<const std::string>(list + "'op']");
        auto metadata = std::make_shared<Metadata>();
        metadata->entries.emplace_back("pkg.torch.onnx.name_scopes", *text);
        metadata->owner = text;
        node.cameFrom = std::make_shared<const NodeOrigin>(NodeOrigin { metadata, nullptr });
        node.name = "node_" + named.value(node.outputs[0]).name;
        builder.addNode(std::move(node));
    }
    auto graph = std::move(builder).finish();
    assert(graph.ok());
    return std::move(graph).value();
}

Graph residualStages(const std::vector<size_t>& blocks)
{
    Writer w;
    w.input("x");
    w.constant("w1", weight());
    w.constant("w2", weight2());
    Chain chain(w, false);
    std::string at = "x";
    for (const size_t count : blocks) {
        at = chain.add("MaxPool", "", { at });
        for (size_t i = 0; i < count; ++i) {
            const std::string first = chain.add("Relu", "", { chain.add("Conv", "", { at, "w1" }) });
            at = chain.add("Relu", "", { chain.add("Add", "", { at, chain.add("Conv", "", { first, "w2" }) }) });
        }
    }
    w.node("Flatten", "last", { at }, { "y" });
    w.output("y");
    return w.finish();
}

Graph twoInterleavedScopes(size_t each)
{
    Writer w;
    w.input("x");
    std::string a = "x", b = "x";
    for (size_t i = 0; i < each; ++i) {
        const std::string number = std::to_string(i);
        w.node("Relu", "/a/Relu_" + number, { a }, { "a" + number });
        w.node("Tanh", "/b/Tanh_" + number, { b }, { "b" + number });
        a = "a" + number;
        b = "b" + number;
    }
    w.node("Add", "sum", { a, b }, { "y" });
    w.output("y");
    return w.finish();
}

namespace {

std::shared_ptr<const Graph> branch(const std::vector<std::string>& types)
{
    GraphBuilder builder("branch");
    builder.allowOuter("a");
    std::string at = "a";
    for (const std::string& type : types) {
        Node node;
        node.name = type + "_inside";
        node.opType = type;
        node.inputs = { builder.value(at) };
        at += "_" + type;
        node.outputs = { builder.value(at) };
        builder.addNode(std::move(node));
    }
    builder.addOutput(builder.value(at));
    auto graph = std::move(builder).finish();
    assert(graph.ok());
    return std::make_shared<const Graph>(std::move(graph).value());
}

/// An If whose first branch is a Relu.
void addIf(GraphBuilder& builder, const std::string& condition, std::shared_ptr<const Graph> otherwise)
{
    Node choice;
    choice.name = choice.opType = "If";
    choice.inputs = { builder.value(condition) };
    choice.outputs = { builder.value("chosen") };
    choice.attributes.set("then_branch", branch({ "Relu" }));
    choice.attributes.set("else_branch", std::move(otherwise));
    builder.addNode(std::move(choice));
    builder.addOutput(builder.value("chosen"));
}

/// A Not and an If whose second branch is the same again.
std::shared_ptr<const Graph> elseIf(size_t depth)
{
    if (depth == 0)
        return branch({ "Tanh" });
    GraphBuilder builder("branch");
    builder.allowOuter("a");
    Node decision;
    decision.name = decision.opType = "Not";
    decision.inputs = { builder.value("a") };
    decision.outputs = { builder.value("condition") };
    builder.addNode(std::move(decision));
    addIf(builder, "condition", elseIf(depth - 1));
    auto graph = std::move(builder).finish();
    assert(graph.ok());
    return std::make_shared<const Graph>(std::move(graph).value());
}

} // namespace

Graph withElseIfs(size_t depth)
{
    GraphBuilder builder;
    builder.addInput(builder.value("a"));
    addIf(builder, "a", elseIf(depth));
    auto graph = std::move(builder).finish();
    assert(graph.ok());
    return std::move(graph).value();
}

Graph withBranches()
{
    GraphBuilder builder;
    for (const char* input : { "x", "condition" })
        builder.addInput(builder.value(input));
    const auto add = [&](const char* type, const char* from, const char* to, Attributes attributes) {
        Node node;
        node.name = type;
        node.opType = type;
        node.inputs = { builder.value(from) };
        node.outputs = { builder.value(to) };
        node.attributes = std::move(attributes);
        builder.addNode(std::move(node));
    };
    Attributes branches;
    branches.set("then_branch", branch({ "Relu" }));
    branches.set("else_branch", branch({ "Tanh", "Neg" }));
    add("Relu", "x", "a", {});
    add("If", "condition", "b", branches);
    add("Tanh", "b", "y", {});
    for (const char* output : { "y", "a" })
        builder.addOutput(builder.value(output));
    auto graph = std::move(builder).finish();
    assert(graph.ok());
    return std::move(graph).value();
}

ConstantLookup initializersOf(const Graph& graph)
{
    return [&graph](ValueId id) -> const Tensor* {
        const auto& initializer = graph.value(id).initializer;
        return initializer ? &*initializer : nullptr;
    };
}

} // namespace qs::test
