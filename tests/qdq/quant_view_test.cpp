// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/issue.h"
#include "core/ops/infer.h"
#include "core/qdq/qlinear_signature.h"
#include "core/qdq/quant_view.h"
#include "core/tensor/convert.h"

#include <QTest>

using namespace qs;

namespace {

/// A graph under construction with one input x; nodes are named after their first outputs.
class Net {
public:
    Net()
    {
        const ValueId x = m_builder.value("x");
        m_builder.setType(x, { DType::Float32, toDims({ 1, 2, 4, 4 }), {} });
        m_builder.addInput(x);
    }
    void constant(const std::string& name, Tensor tensor)
    {
        m_builder.setInitializer(m_builder.value(name), std::move(tensor));
    }
    Node& op(const std::string& type, const std::vector<std::string>& inputs, const std::vector<std::string>& outputs)
    {
        Node node;
        node.name = outputs.front();
        node.opType = type;
        node.opset = 21;
        for (const std::string& name : inputs)
            node.inputs.push_back(m_builder.value(name));
        for (const std::string& name : outputs)
            node.outputs.push_back(m_builder.value(name));
        m_nodes.push_back(std::move(node));
        return m_nodes.back();
    }
    /// Scale and zero point NAME_scale, NAME_zero.
    template <class T> void params(const std::string& name, float scale, T zero)
    {
        constant(name + "_scale", Tensor::scalar(scale));
        constant(name + "_zero", Tensor::scalar(zero));
    }
    /// FROM -> QuantizeLinear -> FROM_codes -> DequantizeLinear -> FROM_dq, uint8 with scale 0.5 and zero point 3.
    void pair(const std::string& from)
    {
        params(from, 0.5f, uint8_t(3));
        op("QuantizeLinear", { from, from + "_scale", from + "_zero" }, { from + "_codes" });
        op("DequantizeLinear", { from + "_codes", from + "_scale", from + "_zero" }, { from + "_dq" });
    }
    void finish()
    {
        for (Node& node : m_nodes)
            m_builder.addNode(std::move(node));
        m_graph = *std::move(m_builder).finish();
        m_facts = inferFacts(m_graph);
        m_view = QuantView::of(m_graph, [this](ValueId id) {
            const auto& value = m_facts.facts[id.index()].value;
            return value ? &*value : nullptr;
        });
    }
    const Graph& graph() const { return m_graph; }
    const QuantView& view() const { return m_view; }
    ValueId value(const std::string& name) const { return graph().findValue(name); }
    bool plumbing(const std::string& name) const { return m_view.isPlumbing(graph().findNode(name)); }
    /// The quantizer that has this value on either side; null when none has.
    const Quantizer* at(const std::string& name) const
    {
        const auto index = m_view.ofValue(value(name));
        return index ? &m_view.quantizers()[*index] : nullptr;
    }
    const QuantUnit* unit(const std::string& name) const
    {
        for (const QuantUnit& u : m_view.units())
            if (u.node == graph().findNode(name))
                return &u;
        return nullptr;
    }

private:
    GraphBuilder m_builder;
    std::vector<Node> m_nodes;
    Graph m_graph;
    InferredFacts m_facts;
    QuantView m_view;
};

Tensor weights(Shape shape)
{
    Tensor t = Tensor::allocate(DType::Int8, std::move(shape));
    for (size_t i = 0; i < size_t(t.count()); ++i)
        t.fill<int8_t>()[i] = int8_t(i * 7);
    return t;
}

/// x -> Q -> DQ -> Conv(stored int8 weights, int32 bias) -> conv -> Q -> DQ
void addQdqConv(Net& net)
{
    net.pair("x");
    net.constant("w", weights({ 3, 2, 1, 1 }));
    net.constant("w_scales", Tensor::of<float>({ 3 }, { 0.1f, 0.2f, 0.3f }));
    net.op("DequantizeLinear", { "w", "w_scales" }, { "w_dq" }).attributes.set("axis", int64_t(0));
    net.constant("b", Tensor::of<int32_t>({ 3 }, { 1, 2, 3 }));
    net.constant("b_scales", Tensor::of<float>({ 3 }, { 0.05f, 0.1f, 0.15f }));
    net.op("DequantizeLinear", { "b", "b_scales" }, { "b_dq" }).attributes.set("axis", int64_t(0));
    net.op("Conv", { "x_dq", "w_dq", "b_dq" }, { "conv" });
    net.pair("conv");
}

/// x -> DynamicQuantizeLinear -> MatMulInteger -> Cast -> Mul(x_scale * w_scale)
void addDynamicMatMul(Net& net)
{
    net.op("DynamicQuantizeLinear", { "x" }, { "xq", "xs", "xz" });
    net.constant("w", weights({ 4, 3 }));
    net.constant("wz", Tensor::of<int8_t>({ 3 }, { 1, 2, 3 }));
    net.constant("ws", Tensor::of<float>({ 3 }, { 0.1f, 0.2f, 0.3f }));
    net.op("MatMulInteger", { "xq", "w", "xz", "wz" }, { "sums" });
    net.op("Cast", { "sums" }, { "floats" }).attributes.set("to", int64_t(DType::Float32));
    net.op("Mul", { "xs", "ws" }, { "scales" });
    net.op("Mul", { "floats", "scales" }, { "y" });
}

} // namespace

class QuantViewTests : public QObject {
    Q_OBJECT
private slots:
    void floatGraphHasNone();
    void pairAroundAnOperator();
    void storedWeightsAndBias();
    void severalDequantizersShareCodes();
    void severalQuantizersOfOneValue();
    void castAndClipBetween();
    void castsOfSeveralReaders();
    void weightsInConstantNodes();
    void weightsQuantizedInTheGraph();
    void computedScales();
    void blockedParameters();
    void negativeAxis();
    void qlinearConv();
    void codesThroughMovement();
    void dynamicProducts();
    void dynamicConvolution();
    void weightOnly();
    void weightOnlyNodes();
    void weightsInBlocks();
    void tableInBlocks();
    void dynamicInside();
    void floatsFromCodes();
    void mixedForms();
    void malformedNodes();
    void operatorNames();
    void signatures();
};

void QuantViewTests::floatGraphHasNone()
{
    Net net;
    net.op("Relu", { "x" }, { "y" });
    net.finish();
    QCOMPARE(net.view().form(), QuantForm::Float);
    QVERIFY(net.view().quantizers().empty() && net.view().units().empty());
    QVERIFY(!net.plumbing("y") && !net.at("x"));
    QCOMPARE(quantFormName(QuantForm::Float), std::string_view("float"));
    QCOMPARE(quantFormName(QuantForm::WeightOnly), std::string_view("weight_only"));
}

void QuantViewTests::pairAroundAnOperator()
{
    Net net;
    addQdqConv(net);
    net.finish();
    QCOMPARE(net.view().form(), QuantForm::Qdq);
    const Quantizer* q = net.at("conv_dq");
    QVERIFY(q);
    QCOMPARE(q->role, QuantRole::Activation);
    QCOMPARE(q->real, net.value("conv"));
    QCOMPARE(q->codes, net.value("conv_codes"));
    QCOMPARE(q->dequantized, net.value("conv_dq"));
    QCOMPARE(q->shown(), net.value("conv_dq"));
    QCOMPARE(q->quantize, net.graph().findNode("conv_codes"));
    QCOMPARE(q->params.dtype, DType::UInt8);
    QCOMPARE(q->params.scale, (std::vector<float> { 0.5f }));
    QCOMPARE(q->params.zeroPoint, (std::vector<int32_t> { 3 }));
    QVERIFY(!q->params.axis && !q->dynamic);
    QVERIFY(net.at("conv") == q && net.at("conv_codes") == q);
    QVERIFY(net.view().ofQuantized(net.value("conv_codes")) && !net.view().ofQuantized(net.value("conv")));
    for (const char* name : { "x_codes", "x_dq", "w_dq", "b_dq", "conv_codes", "conv_dq" })
        QVERIFY2(net.plumbing(name), name);
    QVERIFY(!net.plumbing("conv"));
    QCOMPARE(net.view().units().size(), size_t(1));
    const QuantUnit* unit = net.unit("conv");
    QCOMPARE(unit->inputs.size(), size_t(3));
    QCOMPARE(net.view().quantizers()[unit->inputs[0]].real, net.value("x"));
    QCOMPARE(net.view().quantizers()[unit->inputs[1]].role, QuantRole::Weight);
    QCOMPARE(net.view().quantizers()[unit->inputs[2]].role, QuantRole::Bias);
    QCOMPARE(unit->outputs, (std::vector<uint32_t> { *net.view().ofValue(net.value("conv")) }));
}

void QuantViewTests::storedWeightsAndBias()
{
    Net net;
    addQdqConv(net);
    net.finish();
    const Quantizer* w = net.at("w");
    QVERIFY(w && net.at("w_dq") == w);
    QCOMPARE(w->role, QuantRole::Weight);
    QVERIFY(!w->real.valid() && !w->quantize.valid());
    QCOMPARE(w->params.dtype, DType::Int8);
    QCOMPARE(w->params.scale, (std::vector<float> { 0.1f, 0.2f, 0.3f }));
    QCOMPARE(w->params.zeroPoint, (std::vector<int32_t> { 0, 0, 0 }));
    QCOMPARE(w->params.axis, std::optional<int64_t>(0));
    const Quantizer* b = net.at("b");
    QCOMPARE(b->role, QuantRole::Bias);
    QCOMPARE(b->params.dtype, DType::Int32);
    QCOMPARE(b->params.scale.size(), size_t(3));
}

void QuantViewTests::severalDequantizersShareCodes()
{
    Net net;
    net.pair("x");
    net.op("DequantizeLinear", { "x_codes", "x_scale", "x_zero" }, { "second" });
    net.op("Relu", { "x_dq" }, { "r" });
    net.op("Neg", { "second" }, { "n" });
    net.finish();
    QCOMPARE(net.view().quantizers().size(), size_t(1));
    const Quantizer* q = net.at("second");
    QVERIFY(q && q == net.at("x_dq"));
    QCOMPARE(q->dequantized, net.value("x_dq"));
    QCOMPARE(q->dequantize.size(), size_t(2));
    QCOMPARE(net.unit("r")->inputs, net.unit("n")->inputs);
}

void QuantViewTests::severalQuantizersOfOneValue()
{
    Net net;
    net.pair("x");
    net.params("other", 0.25f, int8_t(-1));
    net.op("QuantizeLinear", { "x", "other_scale", "other_zero" }, { "other_codes" });
    net.op("DequantizeLinear", { "other_codes", "other_scale", "other_zero" }, { "other_dq" });
    net.finish();
    QCOMPARE(net.view().quantizers().size(), size_t(2));
    QCOMPARE(net.at("x")->params.dtype, DType::UInt8); // the first in node order
    QCOMPARE(net.at("other_dq")->params.dtype, DType::Int8);
    QCOMPARE(net.at("other_dq")->real, net.value("x"));
}

void QuantViewTests::castAndClipBetween()
{
    Net net;
    net.params("x", 0.5f, uint8_t(3));
    net.constant("low", Tensor::scalar(uint8_t(0)));
    net.constant("high", Tensor::scalar(uint8_t(15)));
    net.op("QuantizeLinear", { "x", "x_scale", "x_zero" }, { "codes" });
    net.op("Clip", { "codes", "low", "high" }, { "clipped" });
    net.op("Cast", { "clipped" }, { "cast" }).attributes.set("to", int64_t(DType::UInt8));
    net.op("DequantizeLinear", { "cast", "x_scale", "x_zero" }, { "x_dq" });
    net.op("Cast", { "codes" }, { "as_float" }).attributes.set("to", int64_t(DType::Float32));
    net.finish();
    QCOMPARE(net.view().quantizers().size(), size_t(1));
    const Quantizer* q = net.at("x");
    QCOMPARE(q->codes, net.value("cast")); // the last one before DequantizeLinear
    QCOMPARE(q->dequantized, net.value("x_dq"));
    QVERIFY(net.at("codes") == q && net.at("clipped") == q);
    QVERIFY(net.plumbing("clipped") && net.plumbing("cast") && !net.plumbing("as_float"));
    QVERIFY(!net.at("as_float"));
    QCOMPARE(net.view().form(), QuantForm::Qdq);
}

void QuantViewTests::castsOfSeveralReaders()
{
    Net net;
    net.params("x", 0.5f, uint8_t(3));
    net.op("QuantizeLinear", { "x", "x_scale", "x_zero" }, { "codes" });
    for (const std::string name : { "first", "second" }) {
        net.op("Cast", { "codes" }, { name }).attributes.set("to", int64_t(DType::UInt8));
        net.op("DequantizeLinear", { name, "x_scale", "x_zero" }, { name + "_dq" });
        net.op("Relu", { name + "_dq" }, { name + "_relu" });
    }
    net.op("Cast", { "first_dq" }, { "half" }).attributes.set("to", int64_t(DType::Float16));
    net.finish();
    QCOMPARE(net.view().quantizers().size(), size_t(1));
    const Quantizer* q = net.at("x");
    QCOMPARE(q->codes, net.value("first"));
    QCOMPARE(q->dequantized, net.value("first_dq"));
    QCOMPARE(q->dequantize.size(), size_t(2));
    QVERIFY(net.at("second") == q && net.at("second_dq") == q);
    QVERIFY(net.plumbing("first") && net.plumbing("second") && !net.plumbing("half"));
    QCOMPARE(net.unit("second_relu")->inputs, net.unit("first_relu")->inputs);
}

void QuantViewTests::weightsInConstantNodes()
{
    Net net;
    net.op("Constant", {}, { "stored" }).attributes.set("value", weights({ 3, 2, 1, 1 }));
    net.op("Identity", { "stored" }, { "w" });
    net.op("Constant", {}, { "half" }).attributes.set("value", Tensor::scalar(0.5f));
    net.op("Identity", { "half" }, { "scale" });
    net.op("DequantizeLinear", { "w", "scale" }, { "w_dq" });
    net.op("Conv", { "x", "w_dq" }, { "conv" });
    net.finish();
    const Quantizer* q = net.at("w_dq");
    QVERIFY(q);
    QCOMPARE(q->role, QuantRole::Weight);
    QCOMPARE(q->params.scale, (std::vector<float> { 0.5f }));
    for (const char* name : { "stored", "w", "half", "scale", "w_dq" })
        QVERIFY2(net.plumbing(name), name);
    QCOMPARE(net.unit("conv")->inputs.size(), size_t(1));
}

void QuantViewTests::weightsQuantizedInTheGraph()
{
    Net net;
    net.pair("x");
    net.constant("w", Tensor::of<float>({ 2, 2, 1, 1 }, { 1, 2, 3, 4 }));
    net.constant("scales", Tensor::of<float>({ 2 }, { 0.1f, 0.2f }));
    net.constant("zeros", Tensor::of<int8_t>({ 2 }, { 1, -1 }));
    net.op("QuantizeLinear", { "w", "scales", "zeros" }, { "w_codes" }).attributes.set("axis", int64_t(0));
    net.op("DequantizeLinear", { "w_codes", "scales", "zeros" }, { "w_dq" }).attributes.set("axis", int64_t(0));
    net.op("Conv", { "x_dq", "w_dq" }, { "conv" });
    net.finish();
    const Quantizer* q = net.at("w_dq");
    QVERIFY(q && net.at("w") == q);
    QCOMPARE(q->role, QuantRole::Weight);
    QCOMPARE(q->real, net.value("w"));
    QCOMPARE(q->params.zeroPoint, (std::vector<int32_t> { 1, -1 }));
    QCOMPARE(q->params.axis, std::optional<int64_t>(0));
    QCOMPARE(net.unit("conv")->inputs.size(), size_t(2));
}

void QuantViewTests::computedScales()
{
    Net net;
    net.op("ReduceMax", { "x" }, { "scale" }).attributes.set("keepdims", int64_t(0));
    net.op("QuantizeLinear", { "x", "scale" }, { "codes" });
    net.op("DequantizeLinear", { "codes", "scale" }, { "x_dq" });
    net.finish();
    const Quantizer* q = net.at("x");
    QVERIFY(q && q->dynamic && q->params.scale.empty());
    QCOMPARE(q->scaleValue, net.value("scale"));
    QVERIFY(!q->zeroPointValue.valid());
    QCOMPARE(q->dequantized, net.value("x_dq"));
}

void QuantViewTests::blockedParameters()
{
    Net net;
    net.constant("w", weights({ 4, 3 }));
    net.constant("scales", Tensor::of<float>({ 2, 3 }, { 1, 2, 3, 4, 5, 6 }));
    Node& dq = net.op("DequantizeLinear", { "w", "scales" }, { "w_dq" });
    dq.attributes.set("axis", int64_t(0));
    dq.attributes.set("block_size", int64_t(2));
    net.op("MatMul", { "x", "w_dq" }, { "y" });
    net.finish();
    const Quantizer* q = net.at("w");
    QCOMPARE(q->params.scale, (std::vector<float> { 1, 2, 3, 4, 5, 6 }));
    QCOMPARE(q->params.axis, std::optional<int64_t>(0));
    QCOMPARE(q->params.blockSize, int64_t(2));
}

void QuantViewTests::negativeAxis()
{
    Net net;
    net.constant("w", weights({ 4, 3 }));
    net.constant("scales", Tensor::of<float>({ 3 }, { 1, 2, 3 }));
    net.op("DequantizeLinear", { "w", "scales" }, { "last" }).attributes.set("axis", int64_t(-1));
    net.finish();
    QCOMPARE(net.at("last")->params.axis, std::optional<int64_t>(1));
}

void QuantViewTests::qlinearConv()
{
    Net net;
    net.params("x", 0.5f, uint8_t(3));
    net.params("y", 0.25f, uint8_t(0));
    net.op("QuantizeLinear", { "x", "x_scale", "x_zero" }, { "xq" });
    net.constant("w", weights({ 3, 2, 1, 1 }));
    net.constant("ws", Tensor::of<float>({ 3 }, { 0.1f, 0.2f, 0.3f }));
    net.constant("wz", Tensor::of<int8_t>({ 3 }, { 0, 0, 0 }));
    net.constant("b", Tensor::of<int32_t>({ 3 }, { 1, 2, 3 }));
    net.op("QLinearConv", { "xq", "x_scale", "x_zero", "w", "ws", "wz", "y_scale", "y_zero", "b" }, { "yq" });
    Node& pool = net.op("MaxPool", { "yq" }, { "pooled" });
    pool.attributes.set("kernel_shape", std::vector<int64_t> { 2, 2 });
    net.op("DequantizeLinear", { "pooled", "y_scale", "y_zero" }, { "y" });
    net.finish();
    QCOMPARE(net.view().form(), QuantForm::QOperator);
    const Quantizer* w = net.at("w");
    QCOMPARE(w->role, QuantRole::Weight);
    QCOMPARE(w->params.axis, std::optional<int64_t>(0));
    const Quantizer* b = net.at("b");
    QCOMPARE(b->role, QuantRole::Bias);
    QCOMPARE(b->params.scale, (std::vector<float> { 0.5f * 0.1f, 0.5f * 0.2f, 0.5f * 0.3f }));
    const Quantizer* y = net.at("yq");
    QVERIFY(!y->real.valid() && !y->dequantized.valid());
    QCOMPARE(y->shown(), net.value("yq"));
    QCOMPARE(y->params.dtype, DType::UInt8);
    QCOMPARE(y->params.scale, (std::vector<float> { 0.25f }));
    const Quantizer* pooled = net.at("pooled");
    QVERIFY(pooled != y);
    QCOMPARE(pooled->params.scale, y->params.scale);
    QCOMPARE(pooled->quantize, net.graph().findNode("pooled"));
    QCOMPARE(pooled->dequantized, net.value("y"));
    QVERIFY(net.plumbing("xq") && net.plumbing("y") && !net.plumbing("yq") && !net.plumbing("pooled"));
    const QuantUnit* conv = net.unit("yq");
    QCOMPARE(conv->inputs.size(), size_t(3));
    QCOMPARE(net.view().quantizers()[conv->inputs[2]].role, QuantRole::Bias);
    QCOMPARE(conv->outputs, (std::vector<uint32_t> { *net.view().ofValue(net.value("yq")) }));
    QCOMPARE(net.unit("pooled")->inputs, conv->outputs);
}

void QuantViewTests::codesThroughMovement()
{
    Net net;
    net.params("x", 0.5f, uint8_t(3));
    net.op("QuantizeLinear", { "x", "x_scale", "x_zero" }, { "codes" });
    net.op("Transpose", { "codes" }, { "turned" });
    net.op("Split", { "turned" }, { "first", "rest" });
    net.op("DequantizeLinear", { "first", "x_scale", "x_zero" }, { "first_dq" });
    net.op("DequantizeLinear", { "rest", "x_scale", "x_zero" }, { "rest_dq" });
    net.finish();
    QCOMPARE(net.view().form(), QuantForm::Qdq);
    QCOMPARE(net.view().quantizers().size(), size_t(4));
    QCOMPARE(net.at("rest_dq")->codes, net.value("rest"));
    QCOMPARE(net.at("rest_dq")->params.scale, (std::vector<float> { 0.5f }));
    QVERIFY(net.at("first_dq") != net.at("rest_dq"));
}

void QuantViewTests::dynamicProducts()
{
    Net net;
    addDynamicMatMul(net);
    net.finish();
    QCOMPARE(net.view().form(), QuantForm::Dynamic);
    const Quantizer* x = net.at("x");
    QVERIFY(x && x->dynamic && x->params.scale.empty());
    QCOMPARE(x->codes, net.value("xq"));
    QCOMPARE(x->scaleValue, net.value("xs"));
    QCOMPARE(x->zeroPointValue, net.value("xz"));
    QCOMPARE(x->params.dtype, DType::UInt8);
    const Quantizer* w = net.at("w");
    QVERIFY(w);
    QCOMPARE(w->role, QuantRole::Weight);
    QCOMPARE(w->params.scale, (std::vector<float> { 0.1f, 0.2f, 0.3f }));
    QCOMPARE(w->params.zeroPoint, (std::vector<int32_t> { 1, 2, 3 }));
    QCOMPARE(w->params.axis, std::optional<int64_t>(1));
    for (const char* name : { "xq", "floats", "scales", "y" })
        QVERIFY2(net.plumbing(name), name);
    QVERIFY(!net.plumbing("sums"));
    QCOMPARE(net.unit("sums")->inputs.size(), size_t(2));
}

void QuantViewTests::dynamicConvolution()
{
    Net net;
    net.op("DynamicQuantizeLinear", { "x" }, { "xq", "xs", "xz" });
    net.constant("w", weights({ 3, 2, 1, 1 }));
    net.params("w", 0.5f, int8_t(0));
    net.op("Mul", { "w_scale", "xs" }, { "scales" }); // before the product, scale first
    net.op("ConvInteger", { "xq", "w", "xz", "w_zero" }, { "sums" });
    net.op("Cast", { "sums" }, { "floats" }).attributes.set("to", int64_t(DType::Float32));
    net.op("Mul", { "scales", "floats" }, { "y" });
    net.op("Relu", { "y" }, { "r" });
    net.finish();
    QCOMPARE(net.view().form(), QuantForm::Dynamic);
    QVERIFY(net.at("w"));
    QCOMPARE(net.at("w")->params.scale, (std::vector<float> { 0.5f }));
    QVERIFY(net.plumbing("scales") && net.plumbing("floats") && net.plumbing("y") && !net.plumbing("r"));
    QVERIFY(!net.unit("r"));
}

void QuantViewTests::weightOnly()
{
    Net net;
    net.constant("w", weights({ 4, 3 }));
    net.constant("scale", Tensor::scalar(0.5f));
    net.op("DequantizeLinear", { "w", "scale" }, { "w_dq" });
    net.op("MatMul", { "x", "w_dq" }, { "y" });
    net.finish();
    QCOMPARE(net.view().form(), QuantForm::WeightOnly);
    QCOMPARE(net.unit("y")->inputs.size(), size_t(1));
}

void QuantViewTests::weightOnlyNodes()
{
    Net net;
    net.constant("w", weights({ 4, 3 }));
    net.op("MatMulNBits", { "x", "w" }, { "y" }).domain = "com.microsoft";
    net.finish();
    QCOMPARE(net.view().form(), QuantForm::WeightOnly);
}

void QuantViewTests::weightsInBlocks()
{
    Net net; // 2 columns of depth 20 in blocks of 16: 12 places of the last blocks are empty
    std::vector<uint8_t> bytes(2 * 2 * 8, 0x21);
    bytes[8 + 2] = 0xf0; // codes 20 and 21 of the first column: behind its end
    bytes[16] = 0xfe; // codes 0 and 1 of the second column
    net.constant("w", Tensor::of<uint8_t>({ 2, 2, 8 }, bytes));
    net.constant("s", Tensor::of<float>({ 2, 2 }, { 0.1f, 0.2f, 0.3f, 0.4f }));
    net.constant("z", Tensor::of<uint8_t>({ 2, 1 }, { 0x73, 0x21 }));
    Node& node = net.op("MatMulNBits", { "x", "w", "s", "z" }, { "y" });
    node.domain = "com.microsoft";
    node.attributes.set("K", int64_t(20));
    node.attributes.set("N", int64_t(2));
    node.attributes.set("bits", int64_t(4));
    node.attributes.set("block_size", int64_t(16));
    net.finish();
    QCOMPARE(net.view().form(), QuantForm::WeightOnly);
    const Quantizer* q = net.at("w");
    QVERIFY(q);
    QCOMPARE(q->role, QuantRole::Weight);
    QCOMPARE(q->logicalCodes.dtype(), DType::UInt4);
    QCOMPARE(q->logicalCodes.shape(), Shape({ 2, 20 }));
    const auto codes = toInts(q->logicalCodes);
    QCOMPARE(codes[0], 1);
    QCOMPARE(codes[19], 2);
    QCOMPARE(codes[20], 14);
    QCOMPARE(codes[21], 15);
    QCOMPARE(q->params.scale.size(), size_t(4));
    QCOMPARE(q->params.zeroPoint, std::vector<int32_t>({ 3, 7, 1, 2 }));
    QCOMPARE(q->params.axis, std::optional<int64_t>(1));
    QCOMPARE(q->params.blockSize, 16);
    QVERIFY(net.unit("y"));
}

void QuantViewTests::tableInBlocks()
{
    Net net;
    net.constant("table", Tensor::of<uint8_t>({ 3, 16 }, std::vector<uint8_t>(48, 0x9a)));
    net.constant("s", Tensor::of<float>({ 3, 2 }, std::vector<float>(6, 0.5f)));
    net.constant("rows", Tensor::of<int64_t>({ 1 }, { 2 }));
    Node& node = net.op("GatherBlockQuantized", { "table", "rows", "s" }, { "y" });
    node.domain = "com.microsoft";
    node.attributes.set("block_size", int64_t(16));
    net.finish();
    const Quantizer* q = net.at("table");
    QVERIFY(q);
    QCOMPARE(q->logicalCodes.shape(), Shape({ 3, 32 }));
    QCOMPARE(q->params.dtype, DType::UInt4);
    QCOMPARE(q->params.zeroPoint, std::vector<int32_t>(6, 8));
    QCOMPARE(net.view().form(), QuantForm::WeightOnly);
}

void QuantViewTests::dynamicInside()
{
    Net net;
    net.constant("w", weights({ 4, 3 }));
    net.constant("ws", Tensor::of<float>({ 3 }, { 0.1f, 0.2f, 0.3f }));
    net.op("DynamicQuantizeMatMul", { "x", "w", "ws" }, { "y" }).domain = "com.microsoft";
    net.finish();
    QCOMPARE(net.view().form(), QuantForm::Dynamic);
    const Quantizer* q = net.at("w");
    QVERIFY(q);
    QCOMPARE(q->params.axis, std::optional<int64_t>(1));
}

void QuantViewTests::floatsFromCodes()
{
    for (const bool dynamic : { true, false }) {
        Net net;
        net.params("x", 0.5f, uint8_t(3));
        if (dynamic)
            net.op("DynamicQuantizeLinear", { "x" }, { "xq", "xs", "xz" });
        else
            net.op("QuantizeLinear", { "x", "x_scale", "x_zero" }, { "xq" });
        net.constant("w", weights({ 4, 3 }));
        net.constant("ws", Tensor::scalar(0.1f));
        const std::string scale = dynamic ? "xs" : "x_scale", zero = dynamic ? "xz" : "x_zero";
        net.op("MatMulIntegerToFloat", { "xq", "w", scale, "ws", zero }, { "y" }).domain = "com.microsoft";
        net.finish();
        QCOMPARE(net.view().form(), dynamic ? QuantForm::Dynamic : QuantForm::QOperator);
        QVERIFY(net.at("w"));
        QVERIFY(!net.at("y"));
    }
}

void QuantViewTests::mixedForms()
{
    Net net;
    addQdqConv(net);
    net.op("MatMulNBits", { "conv_dq", "w" }, { "y" }).domain = "com.microsoft";
    net.finish();
    QCOMPARE(net.view().form(), QuantForm::Mixed);

    Net both;
    addDynamicMatMul(both);
    both.pair("y");
    both.finish();
    QCOMPARE(both.view().form(), QuantForm::Mixed);
}

void QuantViewTests::malformedNodes()
{
    const std::vector<std::string> none;
    for (const char* type : { "QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "QLinearConv", "QGemm",
             "QLinearConcat", "ConvInteger", "MatMulInteger", "Cast", "MaxPool", "Split" }) {
        for (const auto& inputs : { none, { "" }, { "x" }, { "", "x" }, { "xq", "" } })
            for (const auto& outputs : { std::vector<std::string> { "y" }, { "", "y" } }) {
                Net net;
                net.params("x", 0.5f, uint8_t(0));
                net.op("QuantizeLinear", { "x", "x_scale", "x_zero" }, { "xq" });
                net.op(type, inputs, outputs);
                net.op("Cast", { "y" }, { "", "c" });
                net.op("Mul", { "y" }, { "m" });
                net.finish();
                QVERIFY(!net.view().quantizers().empty());
            }
        Net noOutput;
        noOutput.op(type, { "x", "x", "x" }, { "y" }).outputs.clear();
        noOutput.finish();
        QVERIFY(noOutput.view().quantizers().empty());
    }
    Net mul; // a product whose Mul has one input only
    mul.op("DynamicQuantizeLinear", { "x" }, { "xq", "xs", "xz" });
    mul.constant("w", weights({ 4, 3 }));
    mul.op("MatMulInteger", { "xq", "w" }, { "sums" });
    mul.op("Cast", { "sums" }, { "floats" });
    mul.op("Mul", { "floats" }, { "y" });
    mul.finish();
    QCOMPARE(mul.view().quantizers().size(), size_t(1));
}

void QuantViewTests::operatorNames()
{
    Node node;
    for (const auto& [type, expected] :
        { std::pair { "QLinearConv", "Conv" }, { "QGemm", "Gemm" }, { "MatMulInteger", "MatMul" },
            { "ConvInteger", "Conv" }, { "QLinearAveragePool", "AveragePool" }, { "Relu", "Relu" } }) {
        node.opType = type;
        QCOMPARE(floatOpType(node), std::string(expected));
    }
    node.opType = "QLinearConv";
    node.domain = "acme";
    QCOMPARE(floatOpType(node), std::string("QLinearConv"));
    QVERIFY(!qlinearSignature(node));
    node.domain.clear();
    node.opType = "Resize";
    QVERIFY(movesElements(node));
    node.attributes.set("mode", std::string("linear"));
    QVERIFY(!movesElements(node));
    node.opType = "Relu";
    QVERIFY(!movesElements(node));
}

void QuantViewTests::signatures()
{
    Node gemm;
    gemm.opType = "QGemm";
    gemm.domain = "com.microsoft";
    gemm.inputs.assign(7, ValueId(0));
    QCOMPARE(qlinearSignature(gemm)->output.scale, -1); // writes floats
    gemm.inputs.assign(9, ValueId(0));
    QCOMPARE(qlinearSignature(gemm)->output.scale, 7);
    Node concat;
    concat.opType = "QLinearConcat";
    concat.domain = "com.microsoft";
    concat.inputs.assign(2 + 3 * 3, ValueId(0));
    QCOMPARE(qlinearSignature(concat)->inputs.size(), size_t(3));
    QCOMPARE(qlinearSignature(concat)->inputs[2].zeroPoint, 10);
    QCOMPARE(qlinearSignature(concat)->output.scale, 0);
}

QTEST_APPLESS_MAIN(QuantViewTests)

#include "quant_view_test.moc"
