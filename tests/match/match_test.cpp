// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/match/graph/canonical.h"
#include "core/match/graph/names.h"
#include "core/match/topology.h"
#include "tests/match/chains.h"

#include <QtTest>

#include <algorithm>
#include <cmath>
#include <limits>

using namespace qs;
using namespace qs::test;

class MatchTests : public QObject {
    Q_OBJECT
private slots:
    void pairsByName();
    void knowsRuntimeSuffixes();
    void knowsConvertedNames();
    void pairsThroughUnits();
    void pairsByTopology();
    void walksThroughTurns_data();
    void walksThroughTurns();
    void anchorsByWeights();
    void walksThroughBatchNormalization();
    void gemmIsMatMulAndAdd();
    void poolingIsReduceMean();
    void pairsQLinearForms();
    void pairsScaledSums();
    void pairsBlockWeights();
    void refusesAnotherNetwork();
    void namesOperatorsThatNobodyKnows();
    void opensNegatedWeights();
    void opensBrokenScales_data();
    void opensBrokenScales();
    void listsUnmatched();
    void likenessOfWeights();
};

void MatchTests::pairsByName()
{
    const Prepared f = convChain(), q = convChain();
    const auto a = alignOf(f, q);
    QVERIFY2(a.ok(), qPrintable(sentence(a)));
    QCOMPARE(pairsOf(f, q, *a), (QStringList { "x=x", "c1=c1", "r1=r1", "y=y" }));
    for (const ValuePair& p : a->values) {
        QCOMPARE(p.method, MatchMethod::Name);
        QCOMPARE(p.confidence, 1.0);
        QVERIFY(!p.quantizer);
    }
    QVERIFY(a->weights.empty());
    QVERIFY(a->unmatchedFloat.empty());
    QVERIFY(a->unmatchedQuant.empty());
}

void MatchTests::knowsRuntimeSuffixes()
{
    const auto names = quantizedNames("t");
    for (const char* name :
        { "t_QuantizeLinear_Input", "t_QuantizeLinear_Output", "t_DequantizeLinear_Output", "t_quantized" })
        QVERIFY2(std::ranges::find(names, name) != names.end(), name);
    QVERIFY(std::ranges::find(names, "t") == names.end());

    // The producer's name changes, and nothing but the suffix tells which value it is.
    const Prepared f = SmallModel("f")
                           .input("x", { 1, 3 })
                           .node("Sigmoid", { "x" }, { "s" })
                           .node("Neg", { "s" }, { "y" })
                           .output("y")
                           .finish();
    const Prepared q = SmallModel("q")
                           .input("x", { 1, 3 })
                           .node("Sigmoid", { "x" }, { "s_QuantizeLinear_Input" })
                           .qdq<uint8_t>("s_QuantizeLinear_Input", "s_DequantizeLinear_Output", 0.01f, 0)
                           .node("Neg", { "s_DequantizeLinear_Output" }, { "y" })
                           .output("y")
                           .finish();
    const auto a = alignOf(f, q);
    QVERIFY2(a.ok(), qPrintable(sentence(a)));
    QCOMPARE(pairsOf(f, q, *a), (QStringList { "x=x", "s=s_DequantizeLinear_Output", "y=y" }));
    QCOMPARE(pairOf(f, *a, "s")->method, MatchMethod::Suffix);
    QVERIFY(pairOf(f, *a, "s")->quantizer.has_value());
}

/// Of a TFLite file: where what stands before differs, the name tells which of two alike it is. A name that stays for
/// what another operator makes tells nothing.
void MatchTests::knowsConvertedNames()
{
    QVERIFY(convertedNames("t").empty());
    const Prepared f = SmallModel("f")
                           .input("x", { 1, 3 })
                           .node("Exp", { "x" }, { "e" })
                           .node("Sqrt", { "e" }, { "l0/root:0" })
                           .node("Exp", { "l0/root:0" }, { "g:0" })
                           .node("Sqrt", { "g:0" }, { "l1/root:0" })
                           .output("l1/root:0")
                           .finish();
    const Prepared q = SmallModel("q")
                           .input("x", { 1, 3 })
                           .node("Sigmoid", { "x" }, { "a" })
                           .node("Sqrt", { "a" }, { "l0/root_prequant" })
                           .qdq<uint8_t>("l0/root_prequant", "l0/root_dequant", 0.01f, 0)
                           .node("Sigmoid", { "l0/root_dequant" }, { "g" })
                           .node("Sqrt", { "g" }, { "l1/root_prequant" })
                           .qdq<uint8_t>("l1/root_prequant", "l1/root_dequant", 0.01f, 0)
                           .node("Neg", { "l1/root_dequant" }, { "y" })
                           .output("y")
                           .finish();
    const auto a = alignOf(f, q);
    QVERIFY2(a.ok(), qPrintable(sentence(a)));
    QCOMPARE(pairsOf(f, q, *a), (QStringList { "x=x", "l0/root:0=l0/root_dequant", "l1/root:0=l1/root_dequant" }));
}

void MatchTests::pairsThroughUnits()
{
    const Prepared f = convChain(), q = quantizedChain();
    const auto a = alignOf(f, q);
    QVERIFY2(a.ok(), qPrintable(sentence(a)));
    QCOMPARE(pairsOf(f, q, *a),
        (QStringList { "x=x_DequantizeLinear_Output", "c1=c1", "r1=r1_DequantizeLinear_Output", "y=y" }));
    // The Conv before the removed Relu is the value before the quantizer, and that is no quantized value.
    QCOMPARE(pairOf(f, *a, "c1")->method, MatchMethod::Unit);
    QVERIFY(!pairOf(f, *a, "c1")->quantizer);
    QVERIFY(pairOf(f, *a, "r1")->quantizer.has_value());
    QCOMPARE(a->weights.size(), size_t(2));
    QCOMPARE(a->weights[0].floatValue, f.value("w1"));
    QCOMPARE(a->weights[0].method, MatchMethod::Suffix);
    QCOMPARE(q.view->quantizers()[a->weights[1].quantizer].codes, q.value("w2_quantized"));
    QVERIFY(a->unmatchedFloat.empty());
    QVERIFY2(a->unmatchedQuant.empty(), qPrintable(namesOf(q, a->unmatchedQuant).join(' ')));
}

void MatchTests::pairsByTopology()
{
    const Prepared f = convChain();
    const Prepared q = SmallModel("q")
                           .input("in", { 1, 2, 5, 5 })
                           .weight("k1", kWeight, symmetricCodes(kW1, { 0.03f }), { 0.03f })
                           .weight("k2", { 4, 4, 3, 3 }, symmetricCodes(kW2, { 0.03f }), { 0.03f })
                           .node("Conv", { "in", "k1" }, { "v1" }, kPads)
                           .node("Relu", { "v1" }, { "v2" })
                           .qdq<int8_t>("v2", "v2_dq", 0.05f, -128)
                           .node("Conv", { "v2_dq", "k2" }, { "v3" }, kPads)
                           .output("v3")
                           .finish();
    const auto a = alignOf(f, q);
    QVERIFY2(a.ok(), qPrintable(sentence(a)));
    QCOMPARE(pairsOf(f, q, *a), (QStringList { "x=in", "c1=v1", "r1=v2_dq", "y=v3" }));
    for (const ValuePair& p : a->values)
        QCOMPARE(p.method, MatchMethod::Topology);
    QVERIFY(pairOf(f, *a, "c1")->confidence > 0.9);
    QCOMPARE(a->weights.size(), size_t(2));
    QCOMPARE(a->weights[0].method, MatchMethod::Unit);
}

void MatchTests::walksThroughTurns_data()
{
    QTest::addColumn<std::vector<int64_t>>("back");
    QTest::addColumn<bool>("paired");
    QTest::newRow("undone") << std::vector<int64_t> { 0, 3, 1, 2 } << true;
    QTest::newRow("another turn") << std::vector<int64_t> { 0, 3, 2, 1 } << false;
}

/// Converters turn images to channels last and back around a quantizer. The first weight is another one by a fault, so
/// that only the place of its product tells.
void MatchTests::walksThroughTurns()
{
    QFETCH(const std::vector<int64_t>, back);
    QFETCH(const bool, paired);
    std::vector<float> other = kW1;
    std::ranges::reverse(other);
    const Prepared f = convChain();
    const Prepared q = SmallModel("q")
                           .input("in", { 1, 2, 5, 5 })
                           .weight("k1", kWeight, symmetricCodes(other, { 0.03f }), { 0.03f })
                           .weight("k2", { 4, 4, 3, 3 }, symmetricCodes(kW2, { 0.03f }), { 0.03f })
                           .node("Transpose", { "in" }, { "last" }, { { "perm", std::vector<int64_t> { 0, 2, 3, 1 } } })
                           .qdq<uint8_t>("last", "last_dq", 0.02f, 128)
                           .node("Transpose", { "last_dq" }, { "second" }, { { "perm", back } })
                           .node("Conv", { "second", "k1" }, { "v1" }, kPads)
                           .node("Relu", { "v1" }, { "v2" })
                           .node("Conv", { "v2", "k2" }, { "v3" }, kPads)
                           .output("v3")
                           .finish();
    const auto a = alignOf(f, q);
    QVERIFY2(a.ok(), qPrintable(sentence(a)));
    const QStringList pairs = pairsOf(f, q, *a);
    QVERIFY(pairs.contains("x=in"));
    QCOMPARE(pairs.contains("c1=v1"), paired);
    QCOMPARE(a->weights.size(), size_t(paired ? 2 : 1));
}

void MatchTests::anchorsByWeights()
{
    // Two branches that read one value with one operator: only the weights tell which is which.
    auto build = [](const char* path, bool swapped, const std::string& prefix) {
        const auto &first = swapped ? kW2 : kW1, &second = swapped ? kW1 : kW2;
        const std::vector<float> a(first.begin(), first.begin() + 72), b(second.begin(), second.begin() + 72);
        return SmallModel(path)
            .input("x", { 1, 2, 5, 5 })
            .constant("wa", Tensor::of<float>(kWeight, a))
            .constant("wb", Tensor::of<float>(kWeight, b))
            .node("Conv", { "x", "wa" }, { prefix + "a" }, kPads)
            .node("Conv", { "x", "wb" }, { prefix + "b" }, kPads)
            .node("Sub",
                swapped ? SmallModel::Names { prefix + "b", prefix + "a" }
                        : SmallModel::Names { prefix + "a", prefix + "b" },
                { prefix + "y" })
            .output(prefix + "y")
            .finish();
    };
    const Prepared f = build("f", false, "f"), q = build("q", true, "q");
    const auto a = alignOf(f, q);
    QVERIFY2(a.ok(), qPrintable(sentence(a)));
    QCOMPARE(pairsOf(f, q, *a), (QStringList { "x=x", "fa=qb", "fb=qa", "fy=qy" }));
}

void MatchTests::walksThroughBatchNormalization()
{
    const auto four = [](float v) { return Tensor::of<float>({ 4 }, { v, v, v, v }); };
    const Prepared f = SmallModel("f")
                           .input("x", { 1, 2, 5, 5 })
                           .constant("w", Tensor::of<float>(kWeight, kW1))
                           .constant("gamma", four(2))
                           .constant("beta", four(1))
                           .constant("mean", four(0))
                           .constant("var", four(1))
                           .node("Conv", { "x", "w" }, { "c" }, kPads)
                           .node("BatchNormalization", { "c", "gamma", "beta", "mean", "var" }, { "b" })
                           .node("Relu", { "b" }, { "r" })
                           .node("Sigmoid", { "r" }, { "y" })
                           .output("y")
                           .finish();
    std::vector<float> folded = kW1;
    for (float& v : folded)
        v *= 2;
    const Prepared q = SmallModel("q")
                           .input("x", { 1, 2, 5, 5 })
                           .constant("k", Tensor::of<float>(kWeight, folded))
                           .constant("bias", four(1))
                           .node("Conv", { "x", "k", "bias" }, { "u" }, kPads)
                           .node("Relu", { "u" }, { "v" })
                           .qdq<uint8_t>("v", "v_dq", 0.05f, 0)
                           .node("Sigmoid", { "v_dq" }, { "y" })
                           .output("y")
                           .finish();
    const auto a = alignOf(f, q);
    QVERIFY2(a.ok(), qPrintable(sentence(a)));
    QCOMPARE(pairsOf(f, q, *a), (QStringList { "x=x", "b=u", "r=v_dq", "y=y" }));
    // The convolution before the normalization exists in the float file alone.
    QCOMPARE(namesOf(f, a->unmatchedFloat), QStringList { "c" });
    QVERIFY(a->unmatchedQuant.empty());
}

void MatchTests::gemmIsMatMulAndAdd()
{
    const Tensor bias = Tensor::of<float>({ 3 }, { 1, 2, 3 });
    std::vector<float> turned(12);
    for (size_t r = 0; r < 4; ++r)
        for (size_t c = 0; c < 3; ++c)
            turned[c * 4 + r] = kW3[r * 3 + c];
    const Prepared f = SmallModel("f")
                           .input("x", { 2, 4 })
                           .constant("w", Tensor::of<float>({ 3, 4 }, turned))
                           .constant("b", bias)
                           .node("Gemm", { "x", "w", "b" }, { "g" }, { { "transB", int64_t(1) } })
                           .node("Sigmoid", { "g" }, { "y" })
                           .output("y")
                           .finish();
    const Prepared q = SmallModel("q")
                           .input("x", { 2, 4 })
                           .weight("k", { 4, 3 }, symmetricCodes(kW3, { 0.02f }), { 0.02f })
                           .constant("b2", bias)
                           .node("MatMul", { "x", "k" }, { "m" })
                           .node("Add", { "m", "b2" }, { "s" })
                           .qdq<uint8_t>("s", "s_dq", 0.05f, 128)
                           .node("Sigmoid", { "s_dq" }, { "y" })
                           .output("y")
                           .finish();
    const auto a = alignOf(f, q);
    QVERIFY2(a.ok(), qPrintable(sentence(a)));
    QCOMPARE(pairsOf(f, q, *a), (QStringList { "x=x", "g=s_dq", "y=y" }));
    QCOMPARE(a->weights.size(), size_t(1));
    QVERIFY(a->weights[0].transposed);
    // The product without its bias has no partner: nothing may be compared with it.
    QCOMPARE(namesOf(q, a->unmatchedQuant), QStringList { "m" });

    const auto back = alignOf(q, f);
    QVERIFY2(back.ok(), qPrintable(sentence(back)));
    QVERIFY(!pairOf(q, *back, "m"));
    QCOMPARE(pairOf(q, *back, "s")->quantValue, f.value("g"));
}

void MatchTests::poolingIsReduceMean()
{
    const Prepared f = SmallModel("f")
                           .input("x", { 1, 2, 4, 4 })
                           .node("Sigmoid", { "x" }, { "s" })
                           .node("GlobalAveragePool", { "s" }, { "p" })
                           .node("Flatten", { "p" }, { "l" })
                           .node("Sigmoid", { "l" }, { "y" })
                           .output("y")
                           .finish();
    const Prepared q = SmallModel("q")
                           .input("x", { 1, 2, 4, 4 })
                           .constant("axes", Tensor::of<int64_t>({ 1 }, { 0 }))
                           .node("Sigmoid", { "x" }, { "a" })
                           .node("Unsqueeze", { "a", "axes" }, { "u" })
                           .node("ReduceMean", { "u" }, { "m" }, { { "axes", std::vector<int64_t> { 3, 4 } } })
                           .node("Squeeze", { "m", "axes" }, { "q" })
                           .qdq<uint8_t>("q", "q_dq", 0.01f, 0)
                           .node("Flatten", { "q_dq" }, { "k" })
                           .node("Sigmoid", { "k" }, { "z" })
                           .output("z")
                           .finish();
    const auto a = alignOf(f, q);
    QVERIFY2(a.ok(), qPrintable(sentence(a)));
    QVERIFY(pairOf(f, *a, "p"));
    QVERIFY(pairOf(f, *a, "y"));
    QCOMPARE(pairOf(f, *a, "s")->quantValue, q.value("a"));
    QCOMPARE(pairOf(f, *a, "y")->quantValue, q.value("z"));
    QVERIFY2(a->unmatchedFloat.empty(), qPrintable(namesOf(f, a->unmatchedFloat).join(' ')));
    QVERIFY2(a->unmatchedQuant.empty(), qPrintable(namesOf(q, a->unmatchedQuant).join(' ')));
}

void MatchTests::pairsQLinearForms()
{
    const Prepared f = convChain();
    SmallModel m("q");
    m.input("x", { 1, 2, 5, 5 });
    for (const char* name : { "x", "c1", "y" })
        m.constant(std::string(name) + "_scale", Tensor::scalar(0.05f))
            .constant(std::string(name) + "_zero_point", Tensor::scalar(uint8_t(name == std::string("c1") ? 0 : 128)));
    for (const char* name : { "w1", "w2" })
        m.constant(std::string(name) + "_scale", Tensor::scalar(0.03f))
            .constant(std::string(name) + "_zero_point", Tensor::scalar(int8_t(0)));
    m.constant("w1_quantized", Tensor::of<int8_t>(kWeight, symmetricCodes(kW1, { 0.03f })));
    m.constant("w2_quantized", Tensor::of<int8_t>({ 4, 4, 3, 3 }, symmetricCodes(kW2, { 0.03f })));
    m.node("QuantizeLinear", { "x", "x_scale", "x_zero_point" }, { "x_quantized" });
    m.node("QLinearConv",
        { "x_quantized", "x_scale", "x_zero_point", "w1_quantized", "w1_scale", "w1_zero_point", "c1_scale",
            "c1_zero_point" },
        { "r1_quantized" }, kPads);
    m.node("QLinearConv",
        { "r1_quantized", "c1_scale", "c1_zero_point", "w2_quantized", "w2_scale", "w2_zero_point", "y_scale",
            "y_zero_point" },
        { "y_quantized" }, kPads);
    m.node("DequantizeLinear", { "y_quantized", "y_scale", "y_zero_point" }, { "y" });
    const Prepared q = m.output("y").finish();
    QCOMPARE(q.view->form(), QuantForm::QOperator);
    const auto a = alignOf(f, q);
    QVERIFY2(a.ok(), qPrintable(sentence(a)));
    QCOMPARE(pairOf(f, *a, "x")->quantValue, q.value("x_quantized"));
    QCOMPARE(pairOf(f, *a, "r1")->quantValue, q.value("r1_quantized"));
    QCOMPARE(pairOf(f, *a, "r1")->method, MatchMethod::Suffix);
    // The convolution's own value exists before the rounding of the integer operator only.
    QVERIFY(pairOf(f, *a, "c1"));
    QVERIFY(pairOf(f, *a, "c1")->unrounded.valid());
    QCOMPARE(a->weights.size(), size_t(2));
    QVERIFY(a->unmatchedFloat.empty());
    QVERIFY2(a->unmatchedQuant.empty(), qPrintable(namesOf(q, a->unmatchedQuant).join(' ')));
}

/// x [2,4] -> MatMul(w [4,3]) -> y
Prepared singleMatMul()
{
    return SmallModel("float.onnx")
        .input("x", { 2, 4 })
        .constant("w", Tensor::of<float>({ 4, 3 }, kW3))
        .node("MatMul", { "x", "w" }, { "m" })
        .node("Relu", { "m" }, { "y" })
        .output("y")
        .finish();
}

void MatchTests::pairsScaledSums()
{
    const Prepared f = singleMatMul();
    for (const bool folded : { false, true }) { // the product of the scales, computed or stored
        SmallModel m("q");
        m.input("x", { 2, 4 });
        m.constant("xs", Tensor::scalar(0.05f)).constant("xz", Tensor::scalar(uint8_t(120)));
        m.constant("ws", Tensor::of<float>({ 3 }, { 0.03f, 0.02f, 0.04f }));
        m.constant("w_quantized", Tensor::of<int8_t>({ 4, 3 }, symmetricCodes(kW3, { 0.03f })));
        m.node("QuantizeLinear", { "x", "xs", "xz" }, { "xq" });
        m.node("MatMulInteger", { "xq", "w_quantized", "xz" }, { "sums" });
        m.node("Cast", { "sums" }, { "floats" }, { { "to", int64_t(DType::Float32) } });
        if (folded)
            m.constant("scales", Tensor::of<float>({ 3 }, { 0.05f * 0.03f, 0.05f * 0.02f, 0.05f * 0.04f }));
        else
            m.node("Mul", { "xs", "ws" }, { "scales" });
        m.node("Mul", { "floats", "scales" }, { "m" });
        const Prepared q = m.node("Relu", { "m" }, { "y" }).output("y").finish();
        const auto a = alignOf(f, q);
        QVERIFY2(a.ok(), qPrintable(sentence(a)));
        QCOMPARE(pairOf(f, *a, "m")->quantValue, q.value("m"));
        QCOMPARE(a->weights.size(), size_t(1));
        const auto& scale = q.view->quantizers()[a->weights[0].quantizer].params.scale;
        QCOMPARE(scale.size(), size_t(3));
        for (size_t i = 0; i < 3; ++i)
            QVERIFY(std::abs(scale[i] - std::vector<float> { 0.03f, 0.02f, 0.04f }[i]) < 1e-8f);
    }
}

void MatchTests::pairsBlockWeights()
{
    const Prepared f = singleMatMul();
    std::vector<uint8_t> bytes(3 * 8, 0x88); // columns of 4 codes in blocks of 16
    for (size_t c = 0; c < 3; ++c)
        for (size_t k = 0; k < 4; ++k) {
            const auto code = static_cast<uint8_t>(std::clamp(std::nearbyint(kW3[k * 3 + c] / 0.3f) + 8, 0.f, 15.f));
            uint8_t& byte = bytes[c * 8 + k / 2];
            byte = static_cast<uint8_t>(k % 2 ? (byte & 0x0f) | code << 4 : (byte & 0xf0) | code);
        }
    const Prepared q
        = SmallModel("q")
              .input("x", { 2, 4 })
              .constant("w_Q4", Tensor::of<uint8_t>({ 3, 1, 8 }, bytes))
              .constant("w_scales", Tensor::of<float>({ 3, 1 }, { 0.3f, 0.3f, 0.3f }))
              .node("MatMulNBits", { "x", "w_Q4", "w_scales" }, { "m" },
                  { { "K", int64_t(4) }, { "N", int64_t(3) }, { "bits", int64_t(4) }, { "block_size", int64_t(16) } },
                  "com.microsoft")
              .node("Relu", { "m" }, { "y" })
              .output("y")
              .finish();
    const auto a = alignOf(f, q);
    QVERIFY2(a.ok(), qPrintable(sentence(a)));
    QCOMPARE(pairOf(f, *a, "m")->quantValue, q.value("m"));
    QCOMPARE(a->weights.size(), size_t(1));
    QVERIFY(a->weights[0].transposed);
    const Quantizer& quantizer = q.view->quantizers()[a->weights[0].quantizer];
    const auto stored = dequantized(*storedCodes(*q.plan, quantizer), quantizer.params);
    for (size_t c = 0; c < 3; ++c)
        for (size_t k = 0; k < 4; ++k)
            QVERIFY(std::abs(stored[c * 4 + k] - std::clamp(kW3[k * 3 + c], -2.4f, 2.1f)) < 0.16f);
}

void MatchTests::refusesAnotherNetwork()
{
    const Prepared f = convChain();
    const Prepared other = SmallModel("other.onnx")
                               .input("x", { 1, 2, 5, 5 })
                               .constant("v1", Tensor::of<float>(kWeight, normals(72, 77)))
                               .constant("v2", Tensor::of<float>({ 4, 4, 3, 3 }, normals(144, 78)))
                               .node("Conv", { "x", "v1" }, { "c1" }, kPads)
                               .node("Relu", { "c1" }, { "r1" })
                               .node("Conv", { "r1", "v2" }, { "y" }, kPads)
                               .output("y")
                               .finish();
    const auto a = alignOf(f, other); // of the same form: their outputs tell
    QVERIFY2(a.ok() && a->strangers, qPrintable(sentence(a)));
    const auto own = alignOf(f, f);
    QVERIFY(own.ok() && !own->strangers);

    const Prepared without
        = SmallModel("without.onnx").input("x", { 1, 2, 5, 5 }).node("Sigmoid", { "x" }, { "y" }).output("y").finish();
    const auto b = alignOf(f, without);
    QVERIFY(!b.ok());
    QCOMPARE(b.issue().kind, IssueKind::BadInput);
    QVERIFY(!sentence(b).contains('\n'));
    QVERIFY2(sentence(b).contains("another network"), qPrintable(sentence(b)));
}

/// Twelve convolutions of one shape; in the other file a quantizer of a domain that nobody knows before each input.
void MatchTests::namesOperatorsThatNobodyKnows()
{
    const auto net = [](bool quantized) {
        SmallModel m(quantized ? "custom.onnx" : "float.onnx");
        m.input("x", { 1, 4, 5, 5 }).constant("bits", Tensor::scalar(8.0f));
        const auto quant = [&](const std::string& name) {
            if (quantized)
                m.node("Quant", { name, "bits" }, { name + "_q" }, {}, "qonnx.custom_op.general");
            return name + (quantized ? "_q" : "");
        };
        std::string last = "x";
        for (int i = 0; i < 12; ++i) {
            const std::string at = std::to_string(i) + (quantized ? "_of" : ""), w = "w" + at;
            m.constant(w, Tensor::of<float>({ 4, 4, 3, 3 }, normals(144, unsigned(i))));
            const std::string a = quant(last), b = quant(w);
            m.node("Conv", { a, b }, { "c" + at }, kPads).node("Relu", { "c" + at }, { "r" + at });
            last = "r" + at;
        }
        return m.output(last).finish();
    };
    const auto hidden = alignOf(net(false), net(true));
    QVERIFY(!hidden.ok());
    QVERIFY2(sentence(hidden).contains("qonnx.custom_op.general.Quant (24 nodes) is not supported")
            && !sentence(hidden).contains("another network"),
        qPrintable(sentence(hidden)));
}

void MatchTests::opensBrokenScales_data()
{
    QTest::addColumn<float>("scale");
    QTest::newRow("infinite") << std::numeric_limits<float>::infinity();
    QTest::newRow("not a number") << std::numeric_limits<float>::quiet_NaN();
    QTest::newRow("zero") << 0.0f;
    QTest::newRow("negative") << -0.02f;
}

/// Who debugs a file with a scale like that wants to be told of it, not of another network.
void MatchTests::opensBrokenScales()
{
    QFETCH(const float, scale);
    const std::vector<float> weight = normals(72, 79);
    const auto chain = [&](SmallModel& model, const char* read) {
        return model.input("x", { 1, 2, 5, 5 })
            .node("Conv", { "x", read }, { "c" }, kPads)
            .node("Relu", { "c" }, { "y" })
            .output("y")
            .finish();
    };
    SmallModel plain("f.onnx"), coded("q.onnx");
    plain.constant("w", Tensor::of<float>(kWeight, weight));
    std::vector<int8_t> codes;
    for (const float w : weight)
        codes.push_back(int8_t(std::clamp(std::round(w / 0.02f), -127.0f, 127.0f)));
    coded.constant("wq", Tensor::of<int8_t>(kWeight, codes))
        .constant("s", Tensor::of<float>({}, { scale }))
        .node("DequantizeLinear", { "wq", "s" }, { "wd" });
    const auto a = alignOf(chain(plain, "w"), chain(coded, "wd"));
    QVERIFY2(a.ok(), qPrintable(sentence(a)));
}

/// A weight that is stored with the other sign is the same one, whatever its turned matrix looks like.
void MatchTests::opensNegatedWeights()
{
    const std::vector<float> weight = normals(16, 80);
    std::vector<int8_t> codes;
    for (const float w : weight)
        codes.push_back(int8_t(std::clamp(std::round(-w / 0.03f), -127.0f, 127.0f)));
    SmallModel plain("f.onnx"), coded("q.onnx");
    plain.constant("w", Tensor::of<float>({ 4, 4 }, weight));
    coded.weight("w", { 4, 4 }, codes, { 0.03f });
    for (SmallModel* model : { &plain, &coded })
        model->input("x", { 1, 4 }).node("MatMul", { "x", "w" }, { "y" }).output("y");
    const auto a = alignOf(plain.finish(), coded.finish());
    QVERIFY2(a.ok(), qPrintable(sentence(a)));
    QCOMPARE(a->weights.size(), size_t(1));
}

void MatchTests::listsUnmatched()
{
    const Prepared f = SmallModel("f")
                           .input("x", { 1, 4 })
                           .node("Sigmoid", { "x" }, { "a" })
                           .node("Exp", { "a" }, { "b" })
                           .node("Neg", { "b" }, { "y" })
                           .output("y")
                           .finish();
    const Prepared q = SmallModel("q")
                           .input("x", { 1, 4 })
                           .qdq<uint8_t>("x", "x_dq", 0.1f, 0)
                           .node("Sigmoid", { "x_dq" }, { "a" })
                           .node("Tanh", { "a" }, { "t" })
                           .node("Neg", { "t" }, { "y" })
                           .output("y")
                           .finish();
    const auto a = alignOf(f, q);
    QVERIFY2(a.ok(), qPrintable(sentence(a)));
    QCOMPARE(namesOf(f, a->unmatchedFloat), QStringList { "b" });
    QCOMPARE(namesOf(q, a->unmatchedQuant), QStringList { "t" });
}

void MatchTests::likenessOfWeights()
{
    const std::vector<float> a { 1, 2, 3, 4, 5, 6 }, turned { 1, 4, 2, 5, 3, 6 };
    QCOMPARE(weightLikeness(a, a, { 2, 3 }, { 2, 3 }).cosine, 1.0);
    const auto t = weightLikeness(a, turned, { 2, 3 }, { 3, 2 });
    QVERIFY(t.transposed);
    QVERIFY(std::fabs(t.cosine - 1) < 1e-12);
    QCOMPARE(weightLikeness(a, { 1, 2 }, { 2, 3 }, { 2 }).cosine, 0.0);
    const std::vector<float> zeros(6);
    QCOMPARE(weightLikeness(a, zeros, { 2, 3 }, { 2, 3 }).cosine, 0.0);
}

int runMatchTests(int argc, char** argv)
{
    MatchTests test;
    return QTest::qExec(&test, argc, argv);
}
#include "match_test.moc"
