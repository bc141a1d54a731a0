// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/run/execution.h"
#include "core/tensor/convert.h"

/// Small graphs for tests of the engine, and one run of them.
namespace qs::test {

using Names = std::vector<std::string>;

/// A graph by names; nodes are named after their first outputs.
class Net {
public:
    Net& input(const std::string& name, DType type, std::optional<Dims> dims = std::nullopt)
    {
        m_builder.setType(m_builder.value(name), { type, std::move(dims), {} });
        m_builder.addInput(m_builder.value(name));
        return *this;
    }
    Net& constant(const std::string& name, Tensor tensor)
    {
        m_builder.setInitializer(m_builder.value(name), std::move(tensor));
        return *this;
    }
    Net& output(const std::string& name)
    {
        m_builder.addOutput(m_builder.value(name));
        return *this;
    }
    /// What the graph reads from the one around it.
    Net& outer(const Names& names)
    {
        for (const std::string& name : names)
            m_builder.allowOuter(name);
        return *this;
    }
    Net& op(const std::string& type, const Names& inputs, const Names& outputs,
        const std::vector<std::pair<std::string, AttributeValue>>& attributes = {}, const Names& captures = {})
    {
        Node node;
        node.name = outputs[0];
        node.opType = type;
        node.domain = m_domain;
        node.opset = m_opset;
        for (const std::string& name : inputs)
            node.inputs.push_back(m_builder.value(name));
        for (const std::string& name : outputs)
            node.outputs.push_back(m_builder.value(name));
        for (const std::string& name : captures)
            node.captures.push_back(m_builder.value(name));
        for (const auto& [name, value] : attributes)
            node.attributes.set(name, value);
        m_builder.addNode(std::move(node));
        return *this;
    }
    Net& opset(int version)
    {
        m_opset = version;
        return *this;
    }
    /// Of the nodes that follow.
    Net& domain(const std::string& name)
    {
        m_domain = name;
        return *this;
    }
    std::shared_ptr<const Graph> graph()
    {
        auto built = std::move(m_builder).finish();
        if (!built.ok())
            return nullptr;
        return std::make_shared<const Graph>(std::move(*built));
    }
    std::shared_ptr<const Plan> plan(const PlanOptions& options = {})
    {
        auto model = std::make_shared<Model>();
        model->path = "net.onnx";
        auto built = std::move(m_builder).finish();
        if (!built.ok())
            return nullptr;
        model->graph = std::move(*built);
        return Plan::make(model, options);
    }

private:
    GraphBuilder m_builder;
    std::string m_domain;
    int m_opset = 17;
};

inline Tensor truth(bool value)
{
    Tensor t = Tensor::allocate(DType::Bool, {});
    t.fill<uint8_t>()[0] = value;
    return t;
}

inline Tensor floats(const std::vector<float>& values) { return Tensor::of<float>({ int64_t(values.size()) }, values); }

/// One run; the outputs, or the issue.
inline Result<std::vector<Tensor>> runNet(
    const std::shared_ptr<const Plan>& plan, const std::vector<Tensor>& inputs, const CancelToken& cancel = {})
{
    Demand demand;
    for (ValueId id : plan->graph().outputs())
        demand.values.push_back(id);
    QS_TRY(const auto schedule, Schedule::make(plan, demand));
    BufferPool pool;
    Execution run(schedule, pool);
    QS_CHECK(run.bind(inputs));
    QS_CHECK(run.runAll(cancel));
    std::vector<Tensor> outputs;
    for (ValueId id : plan->graph().outputs())
        outputs.push_back(toPlain(run.get(id)));
    return outputs;
}

inline std::vector<float> numbers(const Result<std::vector<Tensor>>& made, size_t i = 0)
{
    return made.ok() ? toFloats((*made)[i]) : std::vector<float> {};
}

} // namespace qs::test
