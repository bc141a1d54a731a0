// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/model_commands.h"
#include "tests/fuzz/targets/fuzz_target.h"

#include <algorithm>
#include <cstring>
#include <set>

namespace qs::test {

std::string pairBytes(const std::string& floats, const std::string& quantized)
{
    const auto length = uint32_t(floats.size());
    std::string bytes(sizeof length, '\0');
    std::memcpy(bytes.data(), &length, sizeof length);
    return bytes + floats + quantized;
}

ModelPair pairOf(const std::string& bytes)
{
    uint32_t length = 0;
    if (bytes.size() < sizeof length)
        return {};
    std::memcpy(&length, bytes.data(), sizeof length);
    const std::string both = bytes.substr(sizeof length);
    const size_t first = std::min<size_t>(length, both.size());
    return { both.substr(0, first), both.substr(first) };
}

namespace {

using Seeds = std::vector<std::string>;

void carryOut(Trial& trial, const ModelFiles& files)
{
    std::set<std::string> asked; // of what cannot be opened each command says so once
    bool opened = true;
    for (const Arguments& command : everyCommand(files, trial.folder()))
        if (const bool first = asked.insert(command.front()).second; first || opened)
            opened = trial.command(command) || (opened && command.front() != "info");
}

Arguments fewSamples(const std::string& model)
{
    Arguments data = samplesFor(model);
    data.insert(data.end(), { "--threads", "1", "--memory-limit", "268435456" });
    return data;
}

void runModel(Trial& trial, const std::string& bytes)
{
    // What a model's external data may be.
    trial.folder().written("weights.bin", std::string(4096, '\1'));
    carryOut(trial, { trial.folder().written("model.onnx", bytes), "", false, fewSamples(bytes) });
}

void runPair(Trial& trial, const std::string& bytes)
{
    const ModelPair pair = pairOf(bytes);
    trial.folder().written("weights.bin", std::string(4096, '\1'));
    const std::string floats = trial.folder().written("float.onnx", pair.floats);
    const std::string quantized = trial.folder().written("quantized.onnx", pair.quantized);
    carryOut(trial, { floats, quantized, true, fewSamples(pair.floats) });
}

onnx::NodeProto& addNode(
    onnx::GraphProto& graph, const char* type, const std::vector<std::string>& inputs, const std::string& output)
{
    onnx::NodeProto& node = *graph.add_node();
    node.set_op_type(type);
    for (const std::string& input : inputs)
        node.add_input(input);
    node.add_output(output);
    return node;
}

void addConstant(onnx::GraphProto& graph, const std::string& name, std::vector<int64_t> sizes)
{
    onnx::TensorProto& tensor = *graph.add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(onnx::TensorProto::FLOAT);
    int64_t count = 1;
    for (const int64_t size : sizes) {
        tensor.add_dims(size);
        count *= size;
    }
    for (int64_t i = 0; i < count; ++i)
        tensor.add_float_data(float(i % 7) / 4 - 0.5F);
}

void addValue(onnx::ValueInfoProto& value, const char* name, const std::vector<int64_t>& sizes)
{
    value.set_name(name);
    auto& type = *value.mutable_type()->mutable_tensor_type();
    type.set_elem_type(onnx::TensorProto::FLOAT);
    for (const int64_t size : sizes)
        type.mutable_shape()->add_dim()->set_dim_value(size);
}

} // namespace

std::string smallModel()
{
    onnx::ModelProto model;
    model.set_ir_version(8);
    model.add_opset_import()->set_version(17);
    onnx::GraphProto& graph = *model.mutable_graph();
    graph.set_name("small");
    addValue(*graph.add_input(), "x", { 1, 2, 4, 4 });
    addConstant(graph, "w", { 3, 2, 3, 3 });
    addConstant(graph, "b", { 3 });
    addConstant(graph, "m", { 12, 4 });
    addNode(graph, "Conv", { "x", "w", "b" }, "c");
    addNode(graph, "Relu", { "c" }, "r");
    addNode(graph, "Flatten", { "r" }, "f");
    addNode(graph, "MatMul", { "f", "m" }, "y");
    addValue(*graph.add_output(), "y", { 1, 4 });
    return model.SerializeAsString();
}

namespace {

Seeds models(const FuzzFolder&) { return { smallModel() }; }

Seeds pairs(const FuzzFolder& folder)
{
    const std::string floats = smallModel(), path = folder.written("small.onnx", floats);
    const Arguments forms[] { { "qdq" }, { "qoperator", "--per-channel" }, { "dynamic" },
        { "weight-only", "--block-size", "16" } };
    Seeds made;
    for (const Arguments& form : forms) {
        prepare(Arguments { "quantize", path, "-o", folder.path("made.onnx"), "--data", "random:2", "--threads", "1",
                    "--format" }
            + form);
        made.push_back(pairBytes(floats, bytesOf(folder.path("made.onnx"))));
    }
    return made;
}

} // namespace

void addModelTargets(FuzzTargets& targets)
{
    targets.push_back({ "model", FuzzForm::Model, "onnx.dict", models, runModel, 5 });
    targets.push_back({ "pair", FuzzForm::Pair, "onnx.dict", pairs, runPair, 5 });
}

} // namespace qs::test
