// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/views/support/small_session.h"

#include <QtTest>

#include <cmath>

namespace qs::test {

namespace {

/// Short writing of nodes by names.
class Writer {
public:
    ValueId value(const std::string& name) { return m_builder.value(name); }
    void node(const std::string& type, const std::string& name, const std::vector<std::string>& inputs,
        const std::string& output)
    {
        Node node;
        node.name = name;
        node.opType = type;
        node.opset = 17;
        for (const std::string& in : inputs)
            node.inputs.push_back(value(in));
        node.outputs.push_back(value(output));
        m_builder.addNode(std::move(node));
    }
    void constant(const std::string& name, Tensor tensor) { m_builder.setInitializer(value(name), std::move(tensor)); }
    /// QuantizeLinear and DequantizeLinear; returns the name of the dequantized value.
    std::string quantizers(const std::string& from, const std::string& to)
    {
        node("QuantizeLinear", from + "_Q", { from, "s", "z" }, from + "_q");
        node("DequantizeLinear", from + "_DQ", { from + "_q", "s", "z" }, to);
        return to;
    }
    LoadedModel finish()
    {
        m_builder.addInput(value("x"));
        m_builder.addOutput(value("y"));
        auto graph = std::move(m_builder).finish();
        Q_ASSERT(graph.ok());
        auto model = std::make_shared<Model>();
        model->path = "small.onnx";
        model->graph = std::move(graph).value();
        const auto plan = Plan::make(model);
        const auto constants = [plan](ValueId id) { return plan->constant(id); };
        return { model, plan, std::make_shared<QuantView>(QuantView::of(model->graph, constants)),
            std::make_shared<const GraphDraft>(model) };
    }

private:
    GraphBuilder m_builder;
};

Tensor weight() { return Tensor::of<float>({ 4, 2, 3, 3 }, std::vector<float>(72, 0.5f)); }

/// Name of what block i makes: the last one makes y.
std::string made(size_t i, size_t blocks) { return i + 1 == blocks ? "y" : "relu_" + std::to_string(i + 1) + "_out"; }

LoadedModel floatModel(size_t blocks)
{
    Writer w;
    w.constant("w", weight());
    std::string at = "x";
    for (size_t i = 0; i < blocks; ++i) {
        const std::string number = std::to_string(i + 1);
        w.node("Conv", "conv_" + number, { at, "w" }, i == 0 ? "conv" : "conv_out" + number);
        w.node("Relu", "relu_" + number, { i == 0 ? "conv" : "conv_out" + number }, made(i, blocks));
        at = made(i, blocks);
    }
    return w.finish();
}

LoadedModel quantModel(size_t blocks)
{
    Writer w;
    w.constant("s", Tensor::scalar(0.5f));
    w.constant("z", Tensor::scalar<uint8_t>(128));
    w.constant("w", weight());
    std::string at = w.quantizers("x", "x_dq");
    for (size_t i = 0; i < blocks; ++i) {
        const std::string number = std::to_string(i + 1);
        const std::string conv = i == 0 ? "conv" : "conv_out" + number;
        w.node("Conv", "conv_" + number, { at, "w" }, conv);
        w.node("Relu", "relu_" + number, { w.quantizers(conv, conv + "_dq") }, made(i, blocks));
        at = made(i, blocks);
    }
    return w.finish();
}

ActivationRow row(const Snapshot& snapshot, const char* name, const char* quantName, double sqnr)
{
    const Graph& a = snapshot.floatModel->graph();
    const Graph& b = snapshot.quantModel->graph();
    ActivationRow r;
    r.name = name;
    r.quantizedName = quantName;
    r.floatValue = a.findValue(name);
    r.quantValue = b.findValue(quantName);
    r.floatNode = a.value(r.floatValue).producer;
    r.node = r.floatNode.valid() ? a.node(r.floatNode).name : "";
    r.quantizer = snapshot.quantModel->quant->ofValue(r.quantValue);
    if (r.quantizer)
        r.params = snapshot.quantModel->quant->quantizers()[*r.quantizer].params;
    r.accumulated.sqnrDb = sqnr;
    r.localSqnrDb = sqnr + 5;
    r.idealSqnrDb = 40;
    r.clippedFraction = 0.25;
    r.range = { -64, 63.5 };
    r.observedRange = { -90, 90 };
    for (int i = -90; i <= 90; ++i) {
        r.floatHistogram.add(float(i));
        r.quantHistogram.add(std::min(63.5f, std::max(-64.f, float(i))));
        r.errorHistogram.add(float(i % 3) * 0.1f);
    }
    return r;
}

SnapshotPtr snapshotOf(size_t blocks)
{
    auto snapshot = std::make_shared<Snapshot>();
    snapshot->floatModel = floatModel(blocks);
    snapshot->quantModel = quantModel(blocks);
    Comparison comparison;
    comparison.samples = 2;
    comparison.activations
        = { row(*snapshot, "x", "x_dq", 30), row(*snapshot, "conv", "conv_dq", 12), row(*snapshot, "y", "y", -5.4) };
    snapshot->comparison = std::move(comparison);
    return snapshot;
}

} // namespace

SmallSession::SmallSession(size_t blocks)
    : m_snapshot(std::make_shared<SnapshotPtr>(snapshotOf(blocks)))
    , session([snapshot = m_snapshot](const Inputs&, const SnapshotPtr&, const ProgressFn&, const CancelToken&,
                  const PartialFn&) { return Result<SnapshotPtr>(*snapshot); })
{
}

bool SmallSession::load()
{
    Inputs inputs;
    inputs.floatPath = "small.onnx";
    session.openInputs(inputs);
    return QTest::qWaitFor([this] { return session.snapshot() == *m_snapshot; });
}

bool SmallSession::loadQuantized(size_t blocks)
{
    auto next = std::make_shared<Snapshot>(*snapshotOf(blocks));
    next->floatModel = (*m_snapshot)->floatModel;
    *m_snapshot = std::move(next);
    return load();
}

} // namespace qs::test
