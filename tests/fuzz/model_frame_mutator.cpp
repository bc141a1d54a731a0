// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/model_mutator.h"

namespace qs::test {

void ModelMutator::makeSparse(onnx::GraphProto& graph)
{
    onnx::SparseTensorProto& sparse = *graph.add_sparse_initializer();
    const int at = graph.initializer_size() > 0 ? static_cast<int>(below(size_t(graph.initializer_size()))) : -1;
    onnx::TensorProto& values = *sparse.mutable_values();
    values.set_data_type(onnx::TensorProto::FLOAT);
    values.set_name(at >= 0 ? graph.initializer(at).name() : "sparse");
    onnx::TensorProto& indices = *sparse.mutable_indices();
    indices.set_data_type(onnx::TensorProto::INT64);
    const size_t count = below(4);
    values.add_dims(int64_t(count));
    indices.add_dims(int64_t(count + below(2)));
    for (size_t i = 0; i < count; ++i) {
        values.add_float_data(anyFloat());
        indices.add_int64_data(below(3) == 0 ? anyInteger() : int64_t(i));
    }
    if (at >= 0 && below(2) == 0)
        sparse.mutable_dims()->CopyFrom(graph.initializer(at).dims());
    else
        for (size_t n = below(4); n > 0; --n)
            sparse.add_dims(anyInteger());
    if (at >= 0 && below(4) != 0)
        graph.mutable_initializer()->DeleteSubrange(at, 1);
}

void ModelMutator::mutateFrame(onnx::GraphProto& graph)
{
    const auto some = [&](auto* list) -> auto&
    {
        return *list->Mutable(static_cast<int>(below(size_t(list->size()))));
    };
    switch (below(7)) {
    case 0:
        graph.add_output()->set_name(anyName(graph));
        break;
    case 1:
        if (graph.output_size() > 0)
            some(graph.mutable_output()).set_name(anyName(graph));
        break;
    case 2: // what is known of a value in between, wrong perhaps
        if (graph.output_size() > 0) {
            auto& value = *graph.add_value_info();
            value = some(graph.mutable_output());
            value.set_name(anyName(graph));
            mutateType(value);
        }
        break;
    case 3:
        if (graph.output_size() > 0)
            mutateType(some(graph.mutable_output()));
        break;
    case 4: // a size that has a name
        if (graph.input_size() > 0) {
            auto* shape = some(graph.mutable_input()).mutable_type()->mutable_tensor_type()->mutable_shape();
            if (shape->dim_size() > 0)
                some(shape->mutable_dim()).set_dim_param(below(2) == 0 ? "N" : anyName(graph));
        }
        break;
    case 5:
        if (graph.input_size() > 0)
            some(graph.mutable_input()).set_name(anyName(graph));
        break;
    default:
        makeSparse(graph);
    }
}

void ModelMutator::mutateInside(onnx::ModelProto& model, onnx::NodeProto& node)
{
    onnx::GraphProto& graph = *model.mutable_graph();
    switch (below(6)) {
    case 0: // one too many
        node.add_output(below(3) == 0 ? anyName(graph) : below(2) == 0 ? "" : "one_too_many");
        break;
    case 1:
        if (node.output_size() > 0)
            node.mutable_output()->RemoveLast();
        break;
    case 2: { // a body of its own
        auto& body = *node.add_attribute();
        body.set_name(below(3) == 0 ? "then_branch" : below(2) == 0 ? "body" : "else_branch");
        body.set_type(onnx::AttributeProto::GRAPH);
        onnx::GraphProto& inner = *body.mutable_g();
        inner.set_name("inner");
        *inner.add_node() = node;
        inner.mutable_node(0)->clear_attribute();
        for (const std::string& name : node.output())
            inner.add_output()->set_name(name);
        break;
    }
    case 3: { // a function that is called by what the node is
        auto& function = *model.add_functions();
        function.set_name(node.op_type());
        function.set_domain(below(2) == 0 ? node.domain() : "local");
        node.set_domain(function.domain());
        function.mutable_input()->CopyFrom(node.input());
        function.mutable_output()->CopyFrom(node.output());
        *function.add_node() = node;
        function.mutable_node(0)->set_domain(below(2) == 0 ? "" : "local");
        function.add_opset_import()->set_version(17);
        if (below(2) == 0)
            model.add_opset_import()->set_domain("local");
        break;
    }
    case 4: { // a constant as a node
        auto& constant = *graph.mutable_node()->Add();
        constant.set_op_type("Constant");
        constant.add_output(node.input_size() > 0 ? node.input(int(below(size_t(node.input_size())))) : "c");
        auto& value = *constant.add_attribute();
        value.set_name("value");
        value.set_type(onnx::AttributeProto::TENSOR);
        if (graph.initializer_size() > 0)
            *value.mutable_t() = graph.initializer(int(below(size_t(graph.initializer_size()))));
        mutateStorage(*value.mutable_t());
        break;
    }
    default: // an attribute of another kind
        if (node.attribute_size() > 0)
            node.mutable_attribute(int(below(size_t(node.attribute_size()))))
                ->set_type(static_cast<onnx::AttributeProto::AttributeType>(1 + below(12)));
    }
}

void ModelMutator::reframe(onnx::ModelProto& model)
{
    onnx::GraphProto& graph = *model.mutable_graph();
    for (size_t n = 1 + below(2); n > 0 && graph.node_size() > 0; --n)
        if (below(2) == 0)
            mutateFrame(graph);
        else
            mutateInside(model, *graph.mutable_node(int(below(size_t(graph.node_size())))));
}

std::string ModelMutator::changed(const std::string& bytes)
{
    onnx::ModelProto model;
    if (!model.ParseFromString(bytes))
        return bytes;
    const size_t kind = below(6);
    if (kind == 0 || kind >= 4)
        mutate(model);
    if (kind == 1 || kind == 3 || kind == 5)
        rewire(model);
    if (kind >= 2 && kind != 5)
        reframe(model);
    return model.SerializeAsString();
}

} // namespace qs::test
