// SPDX-License-Identifier: GPL-3.0-or-later
#ifndef Q_MOC_RUN // moc stumbles over the standard library's concepts
#include "core/qdq/qlinear_signature.h"
#include "core/tensor/convert.h"
#include "tests/qdq/quant_net.h"
#endif

#include <QTest>

#include <cmath>

using namespace qs;
using namespace qs::test;

namespace {

class OperatorFormsTests : public QObject {
    Q_OBJECT
private slots:
    void qlinearConv();
    void codesThroughMovement();
    void dynamicProducts();
    void dynamicConvolution();
    void weightOnly();
    void weightOnlyNodes();
    void weightsInBlocks();
    void zeroPointsBetweenCodes();
    void expertsInBlocks_data();
    void expertsInBlocks();
    void tableInBlocks();
    void dynamicInside();
    void floatsFromCodes();
    void mixedForms();
    void malformedNodes();
    void operatorNames();
    void signatures();
};

void OperatorFormsTests::qlinearConv()
{
    Net net;
    net.params("x", 0.5f, uint8_t(3));
    net.params("y", 0.25f, uint8_t(0));
    net.op("QuantizeLinear", { "x", "x_scale", "x_zero" }, { "xq" });
    net.constant("w", int8Weights({ 3, 2, 1, 1 }));
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

void OperatorFormsTests::codesThroughMovement()
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

void OperatorFormsTests::dynamicProducts()
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

void OperatorFormsTests::dynamicConvolution()
{
    Net net;
    net.op("DynamicQuantizeLinear", { "x" }, { "xq", "xs", "xz" });
    net.constant("w", int8Weights({ 3, 2, 1, 1 }));
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

void OperatorFormsTests::weightOnly()
{
    Net net;
    net.constant("w", int8Weights({ 4, 3 }));
    net.constant("scale", Tensor::scalar(0.5f));
    net.op("DequantizeLinear", { "w", "scale" }, { "w_dq" });
    net.op("MatMul", { "x", "w_dq" }, { "y" });
    net.finish();
    QCOMPARE(net.view().form(), QuantForm::WeightOnly);
    QCOMPARE(net.unit("y")->inputs.size(), size_t(1));
}

void OperatorFormsTests::weightOnlyNodes()
{
    Net net;
    net.constant("w", int8Weights({ 4, 3 }));
    net.op("MatMulNBits", { "x", "w" }, { "y" }).domain = "com.microsoft";
    net.finish();
    QCOMPARE(net.view().form(), QuantForm::WeightOnly);
}

void OperatorFormsTests::weightsInBlocks()
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

void OperatorFormsTests::expertsInBlocks_data()
{
    QTest::addColumn<int>("block");
    QTest::addColumn<std::vector<int32_t>>("zeros");
    QTest::newRow("whole rows") << 0 << std::vector<int32_t> { 3, 7, 1, 2 }; // packed row by row
    QTest::newRow("blocks") << 16 << std::vector<int32_t> { 3, 7, 1, 2, 5, 4, 9, 8 }; // each row begins a byte
}

void OperatorFormsTests::expertsInBlocks()
{
    QFETCH(const int, block);
    QFETCH(const std::vector<int32_t>, zeros);
    Net net; // 2 experts of 2 rows of depth 32
    std::vector<uint8_t> bytes(size_t(2 * 2 * 16), 0x21);
    bytes[16] = 0xfe; // codes 0 and 1 of the second row
    const size_t scales = zeros.size();
    net.constant("w", Tensor::of<uint8_t>({ 2, 2, 16 }, bytes));
    net.constant("s", Tensor::of<float>(block ? Shape { 2, 2, 2 } : Shape { 2, 2 }, std::vector<float>(scales, 0.5f)));
    const std::vector<uint8_t> packed
        = block ? std::vector<uint8_t> { 0x73, 0x21, 0x45, 0x89 } : std::vector<uint8_t> { 0x73, 0x21 };
    net.constant("z", Tensor::of<uint8_t>(block ? Shape { 2, 2, 1 } : Shape { 2, 1 }, packed));
    Node& node = net.op("QMoE", { "x", "x", "w", "s", "x", "w", "s", "x", "x", "x", "x", "z" }, { "y" });
    for (const size_t absent : { 4, 7, 8, 9, 10 })
        node.inputs[absent] = ValueId();
    node.domain = "com.microsoft";
    node.attributes.set("expert_weight_bits", int64_t(4));
    node.attributes.set("block_size", int64_t(block));
    net.finish();
    QCOMPARE(net.view().form(), QuantForm::WeightOnly);
    const Quantizer* q = net.at("w");
    QVERIFY(q);
    QCOMPARE(q->role, QuantRole::Weight);
    QCOMPARE(q->logicalCodes.shape(), Shape({ 2, 2, 32 }));
    const auto codes = toInts(q->logicalCodes);
    QCOMPARE(codes[0], 1);
    QCOMPARE(codes[32], 14);
    QCOMPARE(codes[33], 15);
    QCOMPARE(q->params.axis, std::optional<int64_t>(2));
    QCOMPARE(q->params.blockSize, block ? 16 : 32);
    QCOMPARE(q->params.zeroPoint, zeros);
}

/// As hqq writes them.
void OperatorFormsTests::zeroPointsBetweenCodes()
{
    for (const bool sane : { true, false }) {
        Net net;
        net.constant("w", Tensor::of<uint8_t>({ 2, 2, 8 }, std::vector<uint8_t>(32, 0x21)));
        net.constant("s", Tensor::of<float>({ 4 }, { 0.1f, 0.2f, 0.3f, 0.4f }));
        net.constant("z", Tensor::of<float>({ 4 }, { 2.5f, 7.25f, 1, sane ? -0.75f : NAN }));
        Node& node = net.op("MatMulNBits", { "x", "w", "s", "z" }, { "y" });
        node.domain = "com.microsoft";
        node.attributes.set("K", int64_t(20));
        node.attributes.set("N", int64_t(2));
        node.attributes.set("block_size", int64_t(16));
        net.finish();
        const Quantizer* q = net.at("w");
        QCOMPARE(q != nullptr, sane);
        if (!sane)
            continue;
        QCOMPARE(q->params.zeroPoint, std::vector<int32_t>({ 2, 7, 1, -1 }));
        QCOMPARE(q->params.zeroRest, std::vector<float>({ 0.5f, 0.25f, 0, 0.25f }));
        QCOMPARE(q->params.zero(1), 7.25);
        QCOMPARE(q->params.zero(4), 0.0);
    }
}

void OperatorFormsTests::tableInBlocks()
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

void OperatorFormsTests::dynamicInside()
{
    Net net;
    net.constant("w", int8Weights({ 4, 3 }));
    net.constant("ws", Tensor::of<float>({ 3 }, { 0.1f, 0.2f, 0.3f }));
    net.op("DynamicQuantizeMatMul", { "x", "w", "ws" }, { "y" }).domain = "com.microsoft";
    net.finish();
    QCOMPARE(net.view().form(), QuantForm::Dynamic);
    const Quantizer* q = net.at("w");
    QVERIFY(q);
    QCOMPARE(q->params.axis, std::optional<int64_t>(1));
}

void OperatorFormsTests::floatsFromCodes()
{
    for (const bool dynamic : { true, false }) {
        Net net;
        net.params("x", 0.5f, uint8_t(3));
        if (dynamic)
            net.op("DynamicQuantizeLinear", { "x" }, { "xq", "xs", "xz" });
        else
            net.op("QuantizeLinear", { "x", "x_scale", "x_zero" }, { "xq" });
        net.constant("w", int8Weights({ 4, 3 }));
        net.constant("ws", Tensor::scalar(0.1f));
        const std::string scale = dynamic ? "xs" : "x_scale", zero = dynamic ? "xz" : "x_zero";
        net.op("MatMulIntegerToFloat", { "xq", "w", scale, "ws", zero }, { "y" }).domain = "com.microsoft";
        net.finish();
        QCOMPARE(net.view().form(), dynamic ? QuantForm::Dynamic : QuantForm::QOperator);
        QVERIFY(net.at("w"));
        QVERIFY(!net.at("y"));
    }
}

void OperatorFormsTests::mixedForms()
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

void OperatorFormsTests::malformedNodes()
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
    mul.constant("w", int8Weights({ 4, 3 }));
    mul.op("MatMulInteger", { "xq", "w" }, { "sums" });
    mul.op("Cast", { "sums" }, { "floats" });
    mul.op("Mul", { "floats" }, { "y" });
    mul.finish();
    QCOMPARE(mul.view().quantizers().size(), size_t(1));
}

void OperatorFormsTests::operatorNames()
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
    QVERIFY(!movesElements(node)); // there is nothing to move
    node.inputs = node.outputs = { ValueId(0) };
    QVERIFY(movesElements(node));
    node.attributes.set("mode", std::string("linear"));
    QVERIFY(!movesElements(node));
    node.opType = "Relu";
    QVERIFY(!movesElements(node));
}

void OperatorFormsTests::signatures()
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

} // namespace

int runOperatorFormsTests(int argc, char** argv)
{
    OperatorFormsTests test;
    return QTest::qExec(&test, argc, argv);
}

#include "operator_forms_test.moc"
