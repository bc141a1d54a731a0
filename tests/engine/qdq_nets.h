// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/run/execution.h"

#include <QtGlobal>

#include <algorithm>
#include <map>
#include <random>
#include <span>

/// Small Q/DQ networks and what running them in an integer profile takes.
namespace qs::test {

/// A Q/DQ graph under construction; nodes are named after their first outputs. Weights and data are the same each time.
struct QdqNet {
    GraphBuilder builder;
    std::vector<Node> nodes;
    std::mt19937 random { 7 };
    int opset = 17;

    std::string input(const std::string& name, Shape shape)
    {
        const ValueId id = builder.value(name);
        Dims dims;
        for (int64_t d : shape)
            dims.push_back({ d, {} });
        builder.setType(id, { DType::Float32, dims, {} });
        builder.addInput(id);
        return name;
    }
    std::string constant(const std::string& name, Tensor tensor)
    {
        builder.setInitializer(builder.value(name), std::move(tensor));
        return name;
    }
    Node& node(const std::string& type, const std::vector<std::string>& inputs, const std::string& output)
    {
        Node n;
        n.name = output;
        n.opType = type;
        n.opset = opset;
        for (const std::string& name : inputs)
            n.inputs.push_back(name.empty() ? ValueId() : builder.value(name));
        n.outputs = { builder.value(output) };
        nodes.push_back(std::move(n));
        return nodes.back();
    }
    std::string op(const std::string& type, const std::vector<std::string>& inputs, const std::string& output)
    {
        node(type, inputs, output);
        return output;
    }
    std::vector<std::string> grid(const std::string& stem, DType type, float scale, int zero)
    {
        return { constant(stem + "_s", Tensor::scalar(scale)),
            constant(stem + "_z",
                type == DType::Int8 ? Tensor::scalar(static_cast<int8_t>(zero))
                                    : Tensor::scalar(static_cast<uint8_t>(zero))) };
    }
    /// x -> NAME_q -> NAME, with default zero points.
    std::string qdq(const std::string& x, const std::string& name, DType type = DType::UInt8, float scale = 0.05f)
    {
        return qdq(x, name, type, scale, type == DType::Int8 ? 0 : 128);
    }
    std::string qdq(const std::string& x, const std::string& name, DType type, float scale, int zero)
    {
        const auto g = grid(name, type, scale, zero);
        op("QuantizeLinear", { x, g[0], g[1] }, name + "_q");
        return op("DequantizeLinear", { name + "_q", g[0], g[1] }, name);
    }
    Tensor codes(Shape shape)
    {
        Tensor t = Tensor::allocate(DType::Int8, std::move(shape));
        for (int8_t& c : t.fill<int8_t>())
            c = static_cast<int8_t>(random() % 3 ? int(random() % 256) - 128 : random() % 2 ? 127 : -128);
        return t;
    }
    std::string weight(const std::string& name, Shape shape)
    {
        constant(name + "_q", codes(std::move(shape)));
        const auto g = grid(name, DType::Int8, 0.01f, 0);
        return op("DequantizeLinear", { name + "_q", g[0], g[1] }, name);
    }
    /// Random codes of a type of 2, 4 or 8 bits.
    Tensor packedCodes(DType type, Shape shape)
    {
        Tensor t = Tensor::allocate(type, std::move(shape));
        std::ranges::generate(
            std::span(t.fill<uint8_t>().data(), t.byteCount()), [&] { return static_cast<uint8_t>(random()); });
        return t;
    }
    /// 40 x 5, in blocks along the first axis or (block 0) per column; opset 21 or newer.
    std::string storedWeight(const std::string& name, DType type, int64_t block, bool zeros)
    {
        const Shape grid = block ? Shape { (40 + block - 1) / block, 5 } : Shape { 5 };
        Tensor scale = Tensor::allocate(DType::Float32, grid);
        for (float& s : scale.fill<float>())
            s = 0.01f * static_cast<float>(1 + random() % 9);
        std::vector<std::string> inputs { constant(name + "_q", packedCodes(type, { 40, 5 })),
            constant(name + "_s", std::move(scale)) };
        if (zeros)
            inputs.push_back(constant(name + "_z", packedCodes(type, grid)));
        Node& n = node("DequantizeLinear", inputs, name);
        n.attributes.set("axis", int64_t(block ? 0 : 1));
        if (block)
            n.attributes.set("block_size", block);
        return name;
    }
    std::string bias(const std::string& name, int64_t n, float scale = 0.05f * 0.01f)
    {
        Tensor t = Tensor::allocate(DType::Int32, { n });
        for (int32_t& c : t.fill<int32_t>())
            c = static_cast<int32_t>(random() % 6000) - 3000;
        constant(name + "_q", t);
        constant(name + "_s", Tensor::scalar(scale));
        return op("DequantizeLinear", { name + "_q", name + "_s" }, name);
    }
    /// 3x3 over 4 channels, to `m` channels.
    std::string conv(const std::string& x, const std::string& name, int64_t m = 8)
    {
        node("Conv", { x, weight(name + "_w", { m, 4, 3, 3 }), bias(name + "_b", m) }, name)
            .attributes.set("pads", std::vector<int64_t> { 1, 1, 1, 1 });
        return name;
    }
    void output(const std::string& name) { builder.addOutput(builder.value(name)); }

    std::shared_ptr<const Plan> plan(
        ArithmeticProfile profile = ArithmeticProfile::Integer, KernelMode mode = KernelMode::Fast)
    {
        for (Node& n : nodes)
            builder.addNode(std::move(n));
        auto graph = std::move(builder).finish();
        if (!graph.ok())
            qFatal("%s", graph.issue().what.c_str());
        auto model = std::make_shared<Model>();
        model->path = "net.onnx";
        model->graph = std::move(*graph);
        m_model = model;
        return Plan::make(m_model, { mode, profile });
    }
    /// The same graph in another arithmetic.
    std::shared_ptr<const Plan> replan(ArithmeticProfile profile, KernelMode mode = KernelMode::Fast) const
    {
        return Plan::make(m_model, { mode, profile });
    }
    std::shared_ptr<const Model> m_model;
};

inline const Shape kImage { 1, 4, 6, 5 };
inline constexpr DType kS8 = DType::Int8, kU8 = DType::UInt8;

/// x -> Q -> DQ -> Conv -> Q -> DQ -> y, with stored int8 weights and an int32 bias of this scale.
void convTo(QdqNet& n, DType in, DType out, float biasScale = 0.05f * 0.01f);

/// A network and the units that the runtime's fusions make of it.
struct UnitCase {
    const char* name;
    void (*build)(QdqNet&);
    const char* units; ///< see unitsOf in integer_units_test.cpp; "": none
    bool sameMeaning = true; ///< the runtime computes what the file says
};
std::span<const UnitCase> unitCases();

/// One tensor for each input of the plan, from seed, seed + 1, ...
std::vector<Tensor> feedOf(const Plan& plan, unsigned seed);

/// Values of one run, or an empty list with the reason printed.
std::vector<Tensor> run(const std::shared_ptr<const Plan>& plan, const std::vector<ValueId>& wanted,
    const std::vector<Tensor>& feed, std::map<NodeId, PairCounts>* counts = nullptr);

} // namespace qs::test
