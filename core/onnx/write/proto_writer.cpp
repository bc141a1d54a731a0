// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/onnx/write/proto_writer.h"

#include "core/tensor/convert.h"

#include <google/protobuf/unknown_field_set.h>

namespace qs {

namespace {

Issue cannotWrite(const std::string& node, const std::string& attribute)
{
    return { IssueKind::BadInput, "its attribute '" + attribute + "' is of a kind that cannot be written", {}, node, {},
        "export the model again without functions" };
}

struct AttributeWriter {
    onnx::AttributeProto& proto;
    const std::string& node;

    Status operator()(int64_t v)
    {
        return scalar(onnx::AttributeProto::INT, [&] { proto.set_i(v); });
    }
    Status operator()(float v)
    {
        return scalar(onnx::AttributeProto::FLOAT, [&] { proto.set_f(v); });
    }
    Status operator()(const std::string& v)
    {
        return scalar(onnx::AttributeProto::STRING, [&] { proto.set_s(v); });
    }
    Status operator()(const Tensor& v)
    {
        return scalar(onnx::AttributeProto::TENSOR, [&] { writeTensor(*proto.mutable_t(), {}, v); });
    }
    Status operator()(const std::shared_ptr<const Graph>& v)
    {
        proto.set_type(onnx::AttributeProto::GRAPH);
        return writeGraph(*proto.mutable_g(), *v);
    }
    Status operator()(const std::vector<int64_t>& v)
    {
        return scalar(onnx::AttributeProto::INTS, [&] { proto.mutable_ints()->Add(v.begin(), v.end()); });
    }
    Status operator()(const std::vector<float>& v)
    {
        return scalar(onnx::AttributeProto::FLOATS, [&] { proto.mutable_floats()->Add(v.begin(), v.end()); });
    }
    Status operator()(const std::vector<std::string>& v)
    {
        return scalar(onnx::AttributeProto::STRINGS, [&] {
            for (const std::string& s : v)
                proto.add_strings(s);
        });
    }
    Status operator()(const std::vector<Tensor>& v)
    {
        return scalar(onnx::AttributeProto::TENSORS, [&] {
            for (const Tensor& t : v)
                writeTensor(*proto.add_tensors(), {}, t);
        });
    }
    Status operator()(const std::vector<std::shared_ptr<const Graph>>& v)
    {
        proto.set_type(onnx::AttributeProto::GRAPHS);
        for (const auto& graph : v)
            QS_CHECK(writeGraph(*proto.add_graphs(), *graph));
        return {};
    }
    Status operator()(const OpaqueAttribute&) { return cannotWrite(node, proto.name()); }

private:
    template <class Set> Status scalar(onnx::AttributeProto::AttributeType type, Set&& set)
    {
        proto.set_type(type);
        set();
        return {};
    }
};

void writeValueInfo(onnx::ValueInfoProto& proto, const Value& value)
{
    proto.set_name(value.name);
    if (canWrite(value.type))
        writeType(*proto.mutable_type(), value.type);
}

} // namespace

void writeTensorHeader(onnx::TensorProto& proto, const std::string& name, const Tensor& tensor)
{
    proto.set_name(name);
    proto.clear_dims();
    for (int64_t d : tensor.shape())
        proto.add_dims(d);
    proto.set_data_type(static_cast<int>(tensor.dtype()));
    proto.clear_raw_data();
    proto.clear_float_data();
    proto.clear_int32_data();
    proto.clear_int64_data();
    proto.clear_double_data();
    proto.clear_uint64_data();
    proto.clear_string_data();
    proto.clear_external_data();
    proto.clear_data_location();
}

void writeTensor(onnx::TensorProto& proto, const std::string& name, const Tensor& tensor)
{
    writeTensorHeader(proto, name, tensor);
    if (tensor.dtype() == DType::String) {
        for (const std::string& s : tensor.stringData())
            proto.add_string_data(s);
        return;
    }
    const Tensor plain = toPlain(tensor);
    const auto bytes = plain.bytes();
    proto.set_raw_data(bytes.data(), bytes.size());
}

bool canWrite(const ValueType& type)
{
    if (type.dtype == DType::Sequence)
        return type.element && canWrite(*type.element);
    return type.dtype != DType::Undefined && !isContainer(type.dtype) && type.container.empty();
}

void writeType(onnx::TypeProto& proto, const ValueType& type)
{
    if (type.dtype == DType::Sequence)
        return writeType(*proto.mutable_sequence_type()->mutable_elem_type(), *type.element);
    auto& tensor = *proto.mutable_tensor_type();
    tensor.set_elem_type(static_cast<int>(type.dtype));
    if (!type.dims)
        return;
    tensor.mutable_shape();
    for (const Dim& dim : *type.dims) {
        auto& d = *tensor.mutable_shape()->add_dim();
        if (dim.known())
            d.set_dim_value(dim.value);
        else if (!dim.symbol.empty())
            d.set_dim_param(dim.symbol);
    }
}

void writeMetadata(onnx::NodeProto& proto, const Metadata& metadata)
{
    if (!metadata.docString.empty())
        proto.set_doc_string(std::string(metadata.docString));
    for (const auto& [key, value] : metadata.entries) {
        onnx::StringStringEntryProto entry;
        entry.set_key(std::string(key));
        entry.set_value(std::string(value));
        proto.mutable_unknown_fields()->AddLengthDelimited(kNodeMetadata, entry.SerializeAsString());
    }
}

Status writeAttributes(onnx::NodeProto& proto, const Attributes& attributes, const std::string& node)
{
    proto.clear_attribute();
    for (const auto& [name, value] : attributes.all()) {
        auto& attribute = *proto.add_attribute();
        attribute.set_name(name);
        QS_CHECK(std::visit(AttributeWriter { attribute, node }, value));
    }
    return {};
}

Status writeGraph(onnx::GraphProto& proto, const Graph& graph)
{
    proto.set_name(graph.name().empty() ? "graph" : graph.name());
    const auto nameOf = [&](ValueId id) { return id.valid() ? graph.value(id).name : std::string(); };
    for (const Node& node : graph.nodes()) {
        auto& out = *proto.add_node();
        const bool ownName = !node.hasOutput(0)
            || node.name != graph.value(node.outputs[0]).name; // which nodes go by that the file gives no name
        if (ownName)
            out.set_name(node.name);
        out.set_op_type(node.opType);
        out.set_domain(node.domain);
        if (node.cameFrom && node.cameFrom->metadata)
            writeMetadata(out, *node.cameFrom->metadata);
        for (ValueId id : node.inputs)
            out.add_input(nameOf(id));
        for (ValueId id : node.outputs)
            out.add_output(nameOf(id));
        QS_CHECK(writeAttributes(out, node.attributes, node.name));
    }
    for (const Value& value : graph.values())
        if (value.initializer)
            writeTensor(*proto.add_initializer(), value.name, *value.initializer);
    for (ValueId id : graph.inputs())
        writeValueInfo(*proto.add_input(), graph.value(id));
    for (ValueId id : graph.outputs())
        writeValueInfo(*proto.add_output(), graph.value(id));
    return {};
}

} // namespace qs
