// SPDX-License-Identifier: GPL-3.0-or-later
#ifndef Q_MOC_RUN // moc stumbles over the standard library's concepts
#include "tests/qdq/quant_net.h"
#endif

#include <QTest>

using namespace qs;
using namespace qs::test;

namespace {

class QuantViewTests : public QObject {
    Q_OBJECT
private slots:
    void floatGraphHasNone();
    void pairAroundAnOperator();
    void storedWeightsAndBias();
    void severalDequantizersShareCodes();
    void storedCodesOfTwoScales();
    void severalQuantizersOfOneValue();
    void castAndClipBetween();
    void castsOfSeveralReaders();
    void weightsInConstantNodes();
    void weightsQuantizedInTheGraph();
    void weightsThatTheirReadersTakeForOthers();
    void computedScales();
    void blockedParameters();
    void negativeAxis();
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

/// Writers store equal codes once: what is read by other scales are other tensors.
void QuantViewTests::storedCodesOfTwoScales()
{
    Net net;
    net.constant("codes", int8Weights({ 2 }));
    net.params("small", 0.5f, int8_t(0));
    net.params("large", 4.f, int8_t(0));
    net.op("DequantizeLinear", { "codes", "small_scale", "small_zero" }, { "a" });
    net.op("DequantizeLinear", { "codes", "large_scale", "large_zero" }, { "b" });
    net.op("DequantizeLinear", { "codes", "large_scale", "large_zero" }, { "c" });
    net.finish();
    QCOMPARE(net.view().quantizers().size(), size_t(2));
    QCOMPARE(net.at("a")->params.scale, (std::vector<float> { 0.5f }));
    QCOMPARE(net.at("b")->params.scale, (std::vector<float> { 4.f }));
    QCOMPARE(net.at("c"), net.at("b"));
    QCOMPARE(net.at("b")->codes, net.value("codes"));
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
    net.op("Constant", {}, { "stored" }).attributes.set("value", int8Weights({ 3, 2, 1, 1 }));
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

/// What counts is what a reader makes of the codes; one that makes something else of them reads another tensor.
void QuantViewTests::weightsThatTheirReadersTakeForOthers()
{
    Net net;
    net.pair("x");
    net.constant("w", Tensor::of<float>({ 2, 2, 1, 1 }, { 1, 2, 3, 4 }));
    net.constant("scales", Tensor::of<float>({ 2 }, { 0.1f, 0.2f }));
    net.constant("others", Tensor::of<float>({ 2 }, { 0.1f, 0.3f }));
    net.constant("zeros", Tensor::of<int8_t>({ 2 }, { 1, -1 }));
    net.op("QuantizeLinear", { "w", "scales", "zeros" }, { "w_codes" }).attributes.set("axis", int64_t(0));
    for (const char* reader : { "1", "2", "3" }) {
        const std::string name = std::string("w_dq") + reader;
        net.op("DequantizeLinear", { "w_codes", *reader == '3' ? "scales" : "others", "zeros" }, { name })
            .attributes.set("axis", int64_t(*reader == '3' ? 1 : 0));
        net.op("Conv", { "x_dq", name }, { std::string("conv") + reader });
    }
    net.finish();
    const Quantizer *first = net.at("w_dq1"), *third = net.at("w_dq3");
    QVERIFY(first && third && net.at("w") == first && net.at("w_dq2") == first && third != first);
    QCOMPARE(first->params.scale, (std::vector<float> { 0.1f, 0.3f }));
    QCOMPARE(first->params.axis, std::optional<int64_t>(0));
    QCOMPARE(third->params.scale, (std::vector<float> { 0.1f, 0.2f }));
    QCOMPARE(third->params.axis, std::optional<int64_t>(1));
    QCOMPARE(third->role, QuantRole::Weight);
    QCOMPARE(third->real, net.value("w"));
    QCOMPARE(third->dequantize.size(), size_t(1));
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
    net.constant("w", int8Weights({ 4, 3 }));
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
    net.constant("w", int8Weights({ 4, 3 }));
    net.constant("scales", Tensor::of<float>({ 3 }, { 1, 2, 3 }));
    net.op("DequantizeLinear", { "w", "scales" }, { "last" }).attributes.set("axis", int64_t(-1));
    net.finish();
    QCOMPARE(net.at("last")->params.axis, std::optional<int64_t>(1));
}

} // namespace

int runQuantViewTests(int argc, char** argv)
{
    QuantViewTests test;
    return QTest::qExec(&test, argc, argv);
}

#include "quant_view_test.moc"
