// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/draft.h"

#include <random>

/// Graphs and bodies of If, Loop and Scan, built in memory by names.
namespace qs::test {

using Names = std::vector<std::string>;
using GraphPtr = std::shared_ptr<const Graph>;

/// A graph or a body, by names.
class Part {
public:
    Part& input(const std::string& name, DType type = DType::Float32, std::optional<Dims> dims = std::nullopt)
    {
        m_builder.setType(m_builder.value(name), { type, std::move(dims), {} });
        m_builder.addInput(m_builder.value(name));
        return *this;
    }
    Part& outer(const Names& names)
    {
        for (const std::string& name : names)
            m_builder.allowOuter(name);
        return *this;
    }
    Part& constant(const std::string& name, Tensor t)
    {
        m_builder.setInitializer(m_builder.value(name), std::move(t));
        return *this;
    }
    Part& op(const std::string& type, const Names& inputs, const Names& outputs,
        const std::vector<std::pair<std::string, AttributeValue>>& attributes = {}, const Names& captures = {})
    {
        Node node;
        node.name = "n_" + outputs[0];
        node.opType = type;
        node.opset = 17;
        for (const std::string& in : inputs)
            node.inputs.push_back(m_builder.value(in));
        for (const std::string& out : outputs)
            node.outputs.push_back(m_builder.value(out));
        for (const std::string& name : captures)
            node.captures.push_back(m_builder.value(name));
        for (const auto& [name, value] : attributes)
            node.attributes.set(name, value);
        m_builder.addNode(std::move(node));
        return *this;
    }
    Part& output(const Names& names)
    {
        for (const std::string& name : names)
            m_builder.addOutput(m_builder.value(name));
        return *this;
    }
    GraphPtr graph() { return std::make_shared<const Graph>(std::move(m_builder).finish().value()); }
    GraphDraft draft()
    {
        auto model = std::make_shared<Model>();
        model->graph = std::move(m_builder).finish().value();
        model->opsetImports[""] = 17;
        return GraphDraft(std::move(model));
    }

private:
    GraphBuilder m_builder;
};

inline Tensor truth(bool value)
{
    Tensor t = Tensor::allocate(DType::Bool, {});
    t.fill<uint8_t>()[0] = value;
    return t;
}

inline Tensor noise(const Shape& shape, unsigned seed)
{
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> values(-1, 1);
    Tensor t = Tensor::allocate(DType::Float32, shape);
    for (float& v : t.fill<float>())
        v = values(random);
    return t;
}

/// h = tanh(h w + row u); the last state and all of them. `w` lies outside, `u` inside behind a Neg of it.
inline GraphPtr cell()
{
    return Part()
        .outer({ "w" })
        .input("h", DType::Float32, toDims({ 1, 3 }))
        .input("row", DType::Float32, toDims({ 1, 3 }))
        .constant("minus_u", noise({ 3, 3 }, 5))
        .op("Neg", { "minus_u" }, { "u" })
        .op("MatMul", { "h", "w" }, { "p" })
        .op("MatMul", { "row", "u" }, { "q" })
        .op("Add", { "p", "q" }, { "s" })
        .op("Tanh", { "s" }, { "next" })
        .output({ "next", "s" })
        .graph();
}

} // namespace qs::test
