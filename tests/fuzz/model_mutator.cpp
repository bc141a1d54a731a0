// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/model_mutator.h"

#include <limits>

namespace qs::test {

int64_t ModelMutator::anyInteger()
{
    static constexpr int64_t kNasty[] { 0, 1, -1, 2, 3, 4, 7, -2, 16, 255, 1 << 20, INT32_MAX, INT32_MIN, INT64_MAX,
        INT64_MIN, int64_t(1) << 33, int64_t(1) << 62 };
    return kNasty[below(std::size(kNasty))];
}

float ModelMutator::anyFloat()
{
    static constexpr float kNasty[] { 0, 1, -1, 1e-30F, 1e30F, std::numeric_limits<float>::infinity(),
        std::numeric_limits<float>::quiet_NaN(), -0.0F, 0.5F, 1e-45F };
    return kNasty[below(std::size(kNasty))];
}

void ModelMutator::mutateAttribute(onnx::NodeProto& node)
{
    if (node.attribute_size() == 0) {
        static constexpr const char* kNames[] { "axis", "axes", "keepdims", "group", "to", "block_size", "mode" };
        auto* attribute = node.add_attribute();
        attribute->set_name(kNames[below(std::size(kNames))]);
        attribute->set_type(onnx::AttributeProto::INT);
        attribute->set_i(anyInteger());
        return;
    }
    auto& attribute = *node.mutable_attribute(static_cast<int>(below(size_t(node.attribute_size()))));
    switch (attribute.type()) {
    case onnx::AttributeProto::INT:
        attribute.set_i(anyInteger());
        break;
    case onnx::AttributeProto::FLOAT:
        attribute.set_f(anyFloat());
        break;
    case onnx::AttributeProto::INTS:
        if (below(3) == 0)
            attribute.add_ints(anyInteger());
        else if (attribute.ints_size() > 0 && below(2) == 0)
            attribute.mutable_ints()->RemoveLast();
        else if (attribute.ints_size() > 0)
            attribute.set_ints(static_cast<int>(below(size_t(attribute.ints_size()))), anyInteger());
        break;
    case onnx::AttributeProto::STRING:
        attribute.set_s(below(2) == 0 ? "" : "linear");
        break;
    case onnx::AttributeProto::TENSOR:
        mutateTensor(*attribute.mutable_t());
        break;
    default:
        attribute.set_name(attribute.name() + "x");
    }
}

void ModelMutator::mutateInputs(onnx::NodeProto& node)
{
    if (node.input_size() == 0)
        return;
    const int at = static_cast<int>(below(size_t(node.input_size())));
    switch (below(4)) {
    case 0:
        node.set_input(at, "");
        break;
    case 1:
        node.mutable_input()->RemoveLast();
        break;
    case 2:
        node.add_input(node.input(at));
        break;
    default:
        node.mutable_input()->SwapElements(at, static_cast<int>(below(size_t(node.input_size()))));
    }
}

void ModelMutator::mutateType(onnx::ValueInfoProto& value)
{
    auto* type = value.mutable_type()->mutable_tensor_type();
    if (below(3) == 0) {
        type->set_elem_type(static_cast<int>(1 + below(27)));
        return;
    }
    auto* shape = type->mutable_shape();
    if (shape->dim_size() == 0 || below(4) == 0)
        shape->add_dim()->set_dim_value(int64_t(below(4)));
    else if (below(3) == 0)
        shape->mutable_dim()->RemoveLast();
    else
        shape->mutable_dim(static_cast<int>(below(size_t(shape->dim_size()))))->set_dim_value(int64_t(below(9)));
}

void ModelMutator::mutateTensor(onnx::TensorProto& tensor)
{
    switch (below(4)) {
    case 0:
        tensor.set_data_type(static_cast<int>(1 + below(27)));
        break;
    case 1:
        if (tensor.dims_size() > 1 && below(2) == 0)
            tensor.mutable_dims()->SwapElements(0, tensor.dims_size() - 1);
        else if (tensor.dims_size() > 0)
            tensor.set_dims(static_cast<int>(below(size_t(tensor.dims_size()))), anyInteger());
        else
            tensor.add_dims(1);
        break;
    default: // other numbers of the same type
        if (std::string* raw = tensor.mutable_raw_data(); !raw->empty())
            (*raw)[below(raw->size())] = static_cast<char>(below(256));
        else if (tensor.int64_data_size() > 0)
            tensor.set_int64_data(static_cast<int>(below(size_t(tensor.int64_data_size()))), anyInteger());
        else if (tensor.float_data_size() > 0)
            tensor.set_float_data(static_cast<int>(below(size_t(tensor.float_data_size()))), anyFloat());
    }
}

void ModelMutator::mutate(onnx::ModelProto& model)
{
    onnx::GraphProto& graph = *model.mutable_graph();
    if (graph.node_size() == 0)
        return;
    for (size_t n = 1 + below(3); n > 0; --n) {
        onnx::NodeProto& node = *graph.mutable_node(static_cast<int>(below(size_t(graph.node_size()))));
        switch (below(8)) {
        case 0:
        case 1:
        case 2:
            mutateAttribute(node);
            break;
        case 3:
            mutateInputs(node);
            break;
        case 4:
            if (graph.input_size() > 0)
                mutateType(*graph.mutable_input(static_cast<int>(below(size_t(graph.input_size())))));
            break;
        case 5:
            if (graph.initializer_size() > 0)
                mutateTensor(*graph.mutable_initializer(static_cast<int>(below(size_t(graph.initializer_size())))));
            break;
        case 6:
            node.set_op_type(m_opTypes[below(m_opTypes.size())]);
            break;
        default:
            if (model.opset_import_size() > 0)
                model.mutable_opset_import(0)->set_version(int64_t(1 + below(27)));
        }
    }
}

void ModelMutator::mutateStorage(onnx::TensorProto& tensor)
{
    switch (below(4)) {
    case 0:
        tensor.mutable_raw_data()->resize(below(tensor.raw_data().size() + 9));
        break;
    case 1: {
        static constexpr const char* kPlaces[] { "", ".", "../../../../etc/passwd", "/dev/zero", "model.onnx",
            "nowhere", "weights.bin", "weights.bin" };
        tensor.set_data_location(onnx::TensorProto::EXTERNAL);
        tensor.clear_raw_data();
        auto* place = tensor.add_external_data();
        place->set_key("location");
        place->set_value(kPlaces[below(std::size(kPlaces))]);
        auto* size = tensor.add_external_data();
        size->set_key(below(2) == 0 ? "length" : "offset");
        size->set_value(std::to_string(anyInteger()));
        break;
    }
    case 2: // another one of its kind: no element, one, some
        tensor.clear_dims();
        for (size_t n = below(3); n > 0; --n)
            tensor.add_dims(int64_t(below(4)));
        break;
    default:
        for (char& byte : *tensor.mutable_raw_data())
            byte = below(4) == 0 ? static_cast<char>(below(256)) : byte;
    }
}

std::string ModelMutator::anyName(const onnx::GraphProto& graph)
{
    static const std::string kStrange[] { "", " ", "a/b", "\x1b[31m", "=1+1", std::string(3000, 'n'), "\xff\xfe",
        "x\ny" };
    const auto node
        = [&]() -> const onnx::NodeProto& { return graph.node(static_cast<int>(below(size_t(graph.node_size())))); };
    const auto& outputs = node().output();
    switch (below(4)) {
    case 0:
        return kStrange[below(std::size(kStrange))];
    case 1:
        if (graph.initializer_size() > 0)
            return graph.initializer(static_cast<int>(below(size_t(graph.initializer_size())))).name();
        [[fallthrough]];
    default:
        return outputs.empty() ? std::string() : outputs[static_cast<int>(below(size_t(outputs.size())))];
    }
}

void ModelMutator::mutateNodes(onnx::GraphProto& graph)
{
    auto* nodes = graph.mutable_node();
    const int at = static_cast<int>(below(size_t(nodes->size())));
    auto& node = *nodes->Mutable(at);
    switch (below(6)) {
    case 0:
        if (nodes->size() > 1)
            nodes->DeleteSubrange(at, 1);
        break;
    case 1:
        *graph.add_node() = onnx::NodeProto(node);
        break;
    case 2:
        nodes->SwapElements(at, static_cast<int>(below(size_t(nodes->size()))));
        break;
    case 3:
        if (node.output_size() > 0)
            node.set_output(static_cast<int>(below(size_t(node.output_size()))), anyName(graph));
        break;
    case 4:
        node.set_name(anyName(graph));
        break;
    default:
        if (node.input_size() > 0)
            node.set_input(static_cast<int>(below(size_t(node.input_size()))), anyName(graph));
    }
}

void ModelMutator::rewire(onnx::ModelProto& model)
{
    onnx::GraphProto& graph = *model.mutable_graph();
    for (size_t n = 1 + below(3); n > 0 && graph.node_size() > 0; --n) {
        const size_t kind = below(8);
        auto* constants = graph.mutable_initializer();
        const int at = constants->empty() ? -1 : static_cast<int>(below(size_t(constants->size())));
        if (kind < 4 || at < 0)
            mutateNodes(graph);
        else if (kind < 6)
            mutateStorage(*constants->Mutable(at));
        else if (kind < 7)
            constants->DeleteSubrange(at, 1);
        else
            constants->Mutable(at)->set_name(anyName(graph));
    }
}

} // namespace qs::test
