// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/plan/plan.h"
#include "core/graph/draft.h"
#include "core/qdq/quant_view.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

/// Tiny models, built in memory by names.
namespace qs::test {

/// A model with what comparing needs of it.
struct Prepared {
    std::shared_ptr<const Plan> plan;
    std::shared_ptr<const QuantView> view;
    const Graph& graph() const { return plan->graph(); }
    ValueId value(const std::string& name) const { return graph().findValue(name); }
};

class SmallModel {
public:
    using Names = std::vector<std::string>;
    using Attribute = std::pair<std::string, AttributeValue>;

    explicit SmallModel(std::string path)
        : m_path(std::move(path))
    {
    }
    SmallModel& input(const std::string& name, const Shape& shape, DType type = DType::Float32)
    {
        m_builder.setType(m_builder.value(name), { type, toDims(shape), {} });
        m_builder.addInput(m_builder.value(name));
        return *this;
    }
    SmallModel& output(const std::string& name)
    {
        m_builder.addOutput(m_builder.value(name));
        return *this;
    }
    SmallModel& constant(const std::string& name, Tensor tensor)
    {
        m_builder.setInitializer(m_builder.value(name), std::move(tensor));
        return *this;
    }
    /// Of the nodes that follow.
    SmallModel& opset(int version)
    {
        m_opset = version;
        return *this;
    }
    /// The node is named after its first output: "n_OUTPUT".
    SmallModel& node(const std::string& type, const Names& inputs, const Names& outputs,
        const std::vector<Attribute>& attributes = {}, const std::string& domain = {})
    {
        Node node;
        node.name = "n_" + outputs[0];
        node.opType = type;
        node.domain = domain;
        node.opset = domain.empty() ? m_opset : 1;
        for (const std::string& in : inputs) // "" = absent
            node.inputs.push_back(in.empty() ? ValueId() : m_builder.value(in));
        for (const std::string& out : outputs)
            node.outputs.push_back(m_builder.value(out));
        for (const auto& [name, value] : attributes) {
            node.attributes.set(name, value);
            if (const auto* body = std::get_if<std::shared_ptr<const Graph>>(&value))
                for (const std::string& outer : outerNames(**body))
                    node.captures.push_back(m_builder.value(outer));
        }
        m_builder.addNode(std::move(node));
        return *this;
    }
    /// QuantizeLinear and DequantizeLinear with ONNX Runtime's names: FROM_QuantizeLinear_Output and TO.
    template <class T> SmallModel& qdq(const std::string& from, const std::string& to, float scale, T zero)
    {
        const std::string codes = from + "_QuantizeLinear_Output";
        constant(from + "_scale", Tensor::scalar(scale));
        constant(from + "_zero_point", Tensor::scalar(zero));
        node("QuantizeLinear", { from, from + "_scale", from + "_zero_point" }, { codes });
        return node("DequantizeLinear", { codes, from + "_scale", from + "_zero_point" }, { to });
    }
    /// A stored int8 weight NAME_quantized behind a DequantizeLinear that makes NAME; one scale, or one a channel.
    SmallModel& weight(const std::string& name, const Shape& shape, const std::vector<int8_t>& codes,
        const std::vector<float>& scales, int64_t axis = 0)
    {
        const auto count = int64_t(scales.size());
        const Shape scaleShape = count == 1 ? Shape {} : Shape { count };
        constant(name + "_quantized", Tensor::of<int8_t>(shape, codes));
        constant(name + "_scale", Tensor::of<float>(scaleShape, scales));
        constant(name + "_zero_point", Tensor::of<int8_t>(scaleShape, std::vector<int8_t>(scales.size(), 0)));
        return node("DequantizeLinear", { name + "_quantized", name + "_scale", name + "_zero_point" }, { name },
            { { "axis", axis } });
    }
    Prepared finish()
    {
        auto model = std::make_shared<Model>();
        model->path = m_path;
        model->graph = std::move(m_builder).finish().value();
        model->opsetImports[""] = m_opset;
        model->fileNodes = model->graph.nodes().size();
        Prepared p;
        p.plan = Plan::make(model);
        p.view = std::make_shared<const QuantView>(
            QuantView::of(p.graph(), [plan = p.plan](ValueId id) { return plan->constant(id); }));
        return p;
    }

private:
    std::string m_path;
    GraphBuilder m_builder;
    int m_opset = 17;
};

} // namespace qs::test
