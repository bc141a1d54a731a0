// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/onnx/model_bytes.h"

namespace qs::test {

namespace {

/// negative(x) = Neg(Scale(x, factor)); scale(x) = Mul(x, Constant(factor)).
void addFunctions(onnx::ModelProto& model)
{
    auto* scale = model.add_functions();
    scale->set_name("Scale");
    scale->set_domain("local");
    scale->add_input("x");
    scale->add_output("y");
    scale->add_attribute("factor");
    scale->add_opset_import()->set_version(15);
    setReference(
        addNode(scale->mutable_node(), "Constant", {}, { "c" }), "value_float", "factor", onnx::AttributeProto::FLOAT);
    addNode(scale->mutable_node(), "Mul", { "x", "c" }, { "y" }, "product");

    auto* negative = model.add_functions();
    negative->set_name("Negative");
    negative->set_domain("local");
    negative->add_input("x");
    negative->add_output("y");
    negative->add_attribute("by");
    negative->add_opset_import()->set_version(15);
    auto* inner = addNode(negative->mutable_node(), "Scale", { "x" }, { "scaled" }, "inner");
    inner->set_domain("local");
    setReference(inner, "factor", "by", onnx::AttributeProto::FLOAT);
    addNode(negative->mutable_node(), "Neg", { "scaled" }, { "y" });
}

void addBranch(onnx::AttributeProto* branch, const std::string& read, const std::string& output)
{
    branch->mutable_g()->set_name(branch->name());
    addNode(branch->mutable_g(), "Add", { read, "bias" }, { output });
    addOutput(branch->mutable_g(), output);
}

} // namespace

onnx::ModelProto richModel()
{
    onnx::ModelProto model = emptyModel();
    model.set_producer_name("maker");
    model.set_producer_version("1.2");
    auto* local = model.add_opset_import();
    local->set_domain("local");
    local->set_version(1);
    auto* graph = model.mutable_graph();
    addInput(graph, "x");
    addInput(graph, "condition", {});
    graph->mutable_input(1)->mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::BOOL);
    addFloats(graph, "bias", { 1, 2, 3 });
    addFloats(graph, "table", std::vector<float>(400, 0.5f));
    auto* typed = graph->add_initializer();
    typed->set_name("typed");
    typed->set_data_type(onnx::TensorProto::FLOAT);
    typed->add_dims(3);
    for (float v : { 4.f, 5.f, 6.f })
        typed->add_float_data(v);
    auto* call = addNode(graph, "Negative", { "x" }, { "negative" }, "call");
    call->set_domain("local");
    addAttribute(call, "by", onnx::AttributeProto::FLOAT)->set_f(2.5f);
    auto* branches = addNode(graph, "If", { "condition" }, { "chosen" }, "choice");
    addBranch(addAttribute(branches, "then_branch", onnx::AttributeProto::GRAPH), "negative", "a");
    addBranch(addAttribute(branches, "else_branch", onnx::AttributeProto::GRAPH), "x", "b");
    auto* constant = addNode(graph, "Constant", {}, { "half" }, "constant");
    setRaw(addAttribute(constant, "value", onnx::AttributeProto::TENSOR)->mutable_t(), "", 1, {}, { 0, 0, 0, 0x3f });
    addNode(graph, "Mul", { "chosen", "half" }, { "halved" });
    addNode(graph, "Add", { "halved", "typed" }, { "y" }, "sum");
    addOutput(graph, "y");
    addFunctions(model);
    return model;
}

} // namespace qs::test
