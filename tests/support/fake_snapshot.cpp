// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/fake_snapshot.h"

#include <algorithm>
#include <cmath>

namespace qs::fake {

namespace {

std::string tensorName(const Options& options, size_t i)
{
    return i == 0 ? "input" : options.prefix + "/conv_" + std::to_string(i) + "_output";
}

LoadedModel chain(const Options& options, const std::string& path)
{
    GraphBuilder builder("chain");
    ValueType type { DType::Float32, toDims({ 1, 8, 4, 4 }), {} };
    const ValueId input = builder.value("input");
    builder.setType(input, type);
    builder.addInput(input);
    for (size_t i = 1; i < options.tensors; ++i) {
        Node node;
        node.name = options.prefix + "/conv_" + std::to_string(i);
        node.opType = "Conv";
        node.opset = 17;
        node.inputs = { builder.value(tensorName(options, i - 1)), builder.value(node.name + ".weight") };
        node.outputs = { builder.value(tensorName(options, i)) };
        node.attributes.set("kernel_shape", std::vector<int64_t> { 1, 1 });
        builder.setInitializer(node.inputs[1], Tensor::of<float>({ 8, 8, 1, 1 }, std::vector<float>(64, 0.5F)));
        builder.setType(node.outputs[0], type);
        builder.addNode(node);
    }
    builder.addOutput(builder.value(tensorName(options, options.tensors - 1)));
    auto model = std::make_shared<Model>();
    model->path = path;
    model->graph = std::move(builder).finish().value();
    model->producer = "test";
    model->opsetImports[""] = 17;
    model->fileNodes = model->graph.nodes().size();
    LoadedModel loaded;
    loaded.model = model;
    loaded.plan = Plan::make(model);
    loaded.quant = std::make_shared<QuantView>(
        QuantView::of(model->graph, [&loaded](ValueId id) { return loaded.plan->constant(id); }));
    loaded.draft = std::make_shared<const GraphDraft>(model);
    return loaded;
}

ActivationRow activation(const Options& options, const Graph& graph, size_t i)
{
    ActivationRow row;
    row.name = tensorName(options, i);
    row.quantizedName = row.name + "_DequantizeLinear";
    row.floatValue = graph.findValue(row.name);
    row.quantValue = row.floatValue;
    row.floatNode = graph.value(row.floatValue).producer;
    row.quantNode = row.floatNode;
    if (row.floatNode.valid()) {
        row.node = graph.node(row.floatNode).name;
        row.opType = "Conv";
    }
    row.quantizer = 0;
    row.params = { DType::Int8, { 0.0239F }, { -128 }, {}, 0 };
    row.shape = { 1, 8, 4, 4 };
    const double db = 40 - 10 * double(i % 6) + options.offsetDb;
    row.accumulated = { db, false, 0.1 * std::pow(10, -db / 20), 0.5, -0.01, 0.99, 256, 0 };
    row.localSqnrDb = 38;
    row.qdqSqnrDb = 37.5;
    row.increaseDb = i % 3 == 0 ? Number() : Number(3.5);
    row.idealSqnrDb = 41.3;
    const double total = *row.accumulated.rmse * *row.accumulated.rmse;
    row.noise = { 0.06 * total, 0.7 * total, 0.24 * total };
    row.clippedFraction = 0.01 * double(i % 4);
    row.range = { 0.0, 6.1 };
    row.observedRange = { -1.0, 19.7 };
    row.floatRange = { -1.0, 19.9 };
    row.signalPower = 4.2;
    row.usedCodes = 0.8;
    row.sampleSqnrDb.assign(options.samples, db);
    std::vector<float> values;
    for (int v = 0; v < 400; ++v)
        values.push_back(3.0F * std::sin(0.1F * float(v)));
    if (options.tensors < 100) {
        row.floatHistogram.add(values);
        row.quantHistogram.add(values);
        row.beforeHistogram.add(values);
    }
    return row;
}

WeightRow weight(const Options& options, const Graph& graph, size_t i)
{
    WeightRow row;
    row.floatNode = graph.value(graph.findValue(tensorName(options, i))).producer;
    row.quantNode = row.floatNode;
    row.node = graph.node(row.floatNode).name;
    row.name = row.node + ".weight";
    row.quantizedName = row.name + "_quantized";
    row.floatValue = graph.findValue(row.name);
    row.opType = "Conv";
    row.params = { DType::Int8, std::vector<float>(8, 0.01F), std::vector<int32_t>(8, 0), 0, 0 };
    row.shape = { 8, 8, 1, 1 };
    row.similarity = { 36.0 - double(i % 5), false, 0.003, 0.02, 0.0, 0.9999, 64, 0 };
    row.idealSqnrDb = 42;
    for (int c = 0; c < 8; ++c)
        row.channelSqnrDb.push_back(20.0 + 3 * c);
    row.rangeRatio = 2.5;
    row.clippedFraction = 0;
    row.perTensorSqnrDb = 33;
    row.perChannelSqnrDb = 38;
    row.offByMoreThanHalfStep = 0;
    row.usedCodes = 0.5;
    return row;
}

Finding finding(Severity severity, Rule rule, const std::string& title, const std::string& tensor)
{
    Finding f;
    f.rule = rule;
    f.severity = severity;
    f.title = title;
    f.summary = "50.2 % of the values are clipped: calibrated ±5.0, the data reach 25.4.";
    f.tensor = tensor;
    f.activation = 0;
    f.evidence = { { "clipped", 50.2, "", "%" }, { "gain", 8.4, "", "dB" } };
    f.remedy = "Calibrate again with the data that are fed now.";
    return f;
}

} // namespace

SnapshotPtr comparison(const Options& options)
{
    auto snapshot = std::make_shared<Snapshot>();
    snapshot->inputs.floatPath = "/models/micro_kws/float.onnx";
    snapshot->inputs.quantPath = "/models/micro_kws/qdq.onnx";
    snapshot->inputs.data.spec = "/models/micro_kws/samples.npz";
    snapshot->floatModel = chain(options, snapshot->inputs.floatPath);
    snapshot->quantModel = chain(options, snapshot->inputs.quantPath);
    const Graph& graph = snapshot->floatModel->graph();
    snapshot->alignment = std::make_shared<const Alignment>();
    Comparison& result = snapshot->comparison.emplace();
    result.samples = options.samples;
    result.partial = options.partial;
    for (size_t i = 0; i < options.tensors; ++i) {
        result.activations.push_back(activation(options, graph, i));
        if (i > 0)
            result.weights.push_back(weight(options, graph, i));
    }
    OutputRow output;
    output.name = output.quantizedName = tensorName(options, options.tensors - 1);
    output.floatValue = output.quantValue = graph.findValue(output.name);
    output.similarity = result.activations.back().accumulated;
    output.top1Agreement = 0.5;
    output.task.what.kind = TaskKind::Classes;
    output.task.agreement = 0.5;
    result.outputs.push_back(output);
    if (options.accuracy)
        result.accuracy = Accuracy { options.samples, 1.0, 0.5 };
    result.findings.push_back(
        finding(Severity::Error, Rule::InputMismatch, "Calibration does not fit the input", "input"));
    result.findings.push_back(finding(Severity::Note, Rule::Inherited, "Inherited in 3 tensors", "input"));
    return snapshot;
}

SnapshotPtr floatOnly()
{
    auto snapshot = std::make_shared<Snapshot>();
    snapshot->inputs.floatPath = "/models/micro_kws/float.onnx";
    snapshot->floatModel = chain({}, snapshot->inputs.floatPath);
    return snapshot;
}

} // namespace qs::fake
