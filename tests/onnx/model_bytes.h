// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/issue_text.h"
#include "core/onnx/import.h"

#include <onnx/onnx_pb.h>

#include <initializer_list>
#include <string>
#include <vector>

/// Tiny models, built in memory with protobuf's classes.
namespace qs::test {

using Names = std::vector<std::string>;
using Imported = Result<std::shared_ptr<const Model>>;

inline onnx::ModelProto emptyModel(int64_t irVersion = 8, int64_t opset = 17)
{
    onnx::ModelProto model;
    model.set_ir_version(irVersion);
    model.mutable_graph()->set_name("main");
    model.add_opset_import()->set_version(opset);
    return model;
}

inline onnx::NodeProto* addNode(google::protobuf::RepeatedPtrField<onnx::NodeProto>* nodes, const std::string& type,
    const Names& inputs, const Names& outputs, const std::string& name = {})
{
    onnx::NodeProto* node = nodes->Add();
    node->set_op_type(type);
    if (!name.empty())
        node->set_name(name);
    for (const auto& i : inputs)
        node->add_input(i);
    for (const auto& o : outputs)
        node->add_output(o);
    return node;
}

inline onnx::NodeProto* addNode(onnx::GraphProto* graph, const std::string& type, const Names& inputs,
    const Names& outputs, const std::string& name = {})
{
    return addNode(graph->mutable_node(), type, inputs, outputs, name);
}

inline void setType(onnx::ValueInfoProto* info, const std::string& name, const std::vector<int64_t>& dims, int type = 1)
{
    info->set_name(name);
    auto* tensor = info->mutable_type()->mutable_tensor_type();
    tensor->set_elem_type(type);
    tensor->mutable_shape();
    for (int64_t d : dims)
        tensor->mutable_shape()->add_dim()->set_dim_value(d);
}

inline void addInput(onnx::GraphProto* graph, const std::string& name, const std::vector<int64_t>& dims = { 2, 3 })
{
    setType(graph->add_input(), name, dims);
}
inline void addOutput(onnx::GraphProto* graph, const std::string& name, const std::vector<int64_t>& dims = { 2, 3 })
{
    setType(graph->add_output(), name, dims);
}

inline void setRaw(
    onnx::TensorProto* tensor, const std::string& name, int type, const std::vector<int64_t>& dims, std::string raw)
{
    tensor->set_name(name);
    tensor->set_data_type(type);
    for (int64_t d : dims)
        tensor->add_dims(d);
    tensor->set_raw_data(std::move(raw));
}

inline onnx::TensorProto* addFloats(onnx::GraphProto* graph, const std::string& name, const std::vector<float>& values)
{
    auto* tensor = graph->add_initializer();
    setRaw(tensor, name, 1, { int64_t(values.size()) },
        std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)));
    return tensor;
}

inline onnx::AttributeProto* addAttribute(
    onnx::NodeProto* node, const std::string& name, onnx::AttributeProto::AttributeType type)
{
    auto* a = node->add_attribute();
    a->set_name(name);
    a->set_type(type);
    return a;
}

inline void setInt(onnx::NodeProto* node, const std::string& name, int64_t value)
{
    addAttribute(node, name, onnx::AttributeProto::INT)->set_i(value);
}

inline void setReference(onnx::NodeProto* node, const std::string& name, const std::string& referred,
    onnx::AttributeProto::AttributeType type = onnx::AttributeProto::INT)
{
    addAttribute(node, name, type)->set_ref_attr_name(referred);
}

inline Imported importBytes(const std::string& bytes, const std::string& folder = {})
{
    return importModelFromBytes(std::as_bytes(std::span(bytes)), folder);
}
inline Imported import(const onnx::ModelProto& model, const std::string& folder = {})
{
    return importBytes(model.SerializeAsString(), folder);
}

/// The issue's sentence; empty when the model opened.
inline std::string sentence(const Imported& result) { return result ? std::string() : issueText(result.issue()); }

/// A model with most of what the format has: initializers in two forms, a constant, a subgraph, functions.
onnx::ModelProto richModel();

} // namespace qs::test
