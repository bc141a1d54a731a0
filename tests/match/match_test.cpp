// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/issue_text.h"
#include "core/match/alignment.h"
#include "core/match/canonical.h"
#include "core/match/names.h"
#include "core/match/topology.h"
#include "tests/support/small_model.h"

#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>
#include <cmath>
#include <random>

using namespace qs;
using qs::test::Prepared;
using qs::test::SmallModel;

namespace {

std::vector<float> randomFloats(size_t n, uint32_t seed)
{
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    std::vector<float> values(n);
    for (float& v : values)
        v = normal(random);
    return values;
}

/// Codes of a weight with one symmetric scale.
std::vector<int8_t> rounded(const std::vector<float>& values, float scale)
{
    std::vector<int8_t> codes;
    for (float v : values)
        codes.push_back(static_cast<int8_t>(std::clamp(std::nearbyint(v / scale), -127.f, 127.f)));
    return codes;
}

const Shape kWeight { 4, 2, 3, 3 };
const std::vector<float> kW1 = randomFloats(72, 1), kW2 = randomFloats(144, 2), kW3 = randomFloats(12, 3);
const std::vector<SmallModel::Attribute> kPads { { "pads", std::vector<int64_t> { 1, 1, 1, 1 } } };

/// x -> Conv -> Relu -> Conv -> y
Prepared convChain()
{
    return SmallModel("float.onnx")
        .input("x", { 1, 2, 5, 5 })
        .constant("w1", Tensor::of<float>(kWeight, kW1))
        .constant("w2", Tensor::of<float>({ 4, 4, 3, 3 }, kW2))
        .node("Conv", { "x", "w1" }, { "c1" }, kPads)
        .node("Relu", { "c1" }, { "r1" })
        .node("Conv", { "r1", "w2" }, { "y" }, kPads)
        .output("y")
        .finish();
}

/// What ONNX Runtime's quantizer makes of convChain: the Relu is gone, the range does its work.
Prepared quantizedChain()
{
    return SmallModel("quant.onnx")
        .input("x", { 1, 2, 5, 5 })
        .weight("w1", kWeight, rounded(kW1, 0.03f), { 0.03f })
        .weight("w2", { 4, 4, 3, 3 }, rounded(kW2, 0.03f), { 0.03f })
        .qdq<uint8_t>("x", "x_DequantizeLinear_Output", 0.02f, 128)
        .node("Conv", { "x_DequantizeLinear_Output", "w1" }, { "c1" }, kPads)
        .qdq<uint8_t>("c1", "r1_DequantizeLinear_Output", 0.05f, 0)
        .node("Conv", { "r1_DequantizeLinear_Output", "w2" }, { "y_QuantizeLinear_Input" }, kPads)
        .qdq<uint8_t>("y_QuantizeLinear_Input", "y", 0.1f, 100)
        .output("y")
        .finish();
}

Result<Alignment> alignOf(const Prepared& f, const Prepared& q, const ManualPairs& manual = {})
{
    return align(*f.plan, *q.plan, *q.view, { manual, {} });
}

/// Pairs as text: "float=quantized" in order.
QStringList pairsOf(const Prepared& f, const Prepared& q, const Alignment& a)
{
    QStringList list;
    for (const ValuePair& p : a.values)
        list << QString::fromStdString(f.graph().value(p.floatValue).name + "=" + q.graph().value(p.quantValue).name);
    return list;
}

const ValuePair* pairOf(const Prepared& f, const Alignment& a, const std::string& name)
{
    const auto it = std::ranges::find(a.values, f.value(name), &ValuePair::floatValue);
    return it == a.values.end() ? nullptr : &*it;
}

QStringList namesOf(const Prepared& m, const std::vector<ValueId>& values)
{
    QStringList list;
    for (ValueId v : values)
        list << QString::fromStdString(m.graph().value(v).name);
    return list;
}

QString sentence(const Result<Alignment>& r) { return r ? QString() : QString::fromStdString(issueText(r.issue())); }

} // namespace

class MatchTests : public QObject {
    Q_OBJECT
private slots:
    void pairsByName();
    void knowsRuntimeSuffixes();
    void pairsThroughUnits();
    void pairsByTopology();
    void anchorsByWeights();
    void walksThroughBatchNormalization();
    void gemmIsMatMulAndAdd();
    void poolingIsReduceMean();
    void pairsQLinearForms();
    void pairsScaledSums();
    void pairsBlockWeights();
    void manualPairsWin();
    void pairsAreKeptApart();
    void refusesWrongMaps();
    void refusesAnotherNetwork();
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
                           .weight("k1", kWeight, rounded(kW1, 0.03f), { 0.03f })
                           .weight("k2", { 4, 4, 3, 3 }, rounded(kW2, 0.03f), { 0.03f })
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
                           .weight("k", { 4, 3 }, rounded(kW3, 0.02f), { 0.02f })
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
    m.constant("w1_quantized", Tensor::of<int8_t>(kWeight, rounded(kW1, 0.03f)));
    m.constant("w2_quantized", Tensor::of<int8_t>({ 4, 4, 3, 3 }, rounded(kW2, 0.03f)));
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
        m.constant("w_quantized", Tensor::of<int8_t>({ 4, 3 }, rounded(kW3, 0.03f)));
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

void MatchTests::manualPairsWin()
{
    const Prepared f = convChain(), q = quantizedChain();
    const auto a = alignOf(f, q, { { "r1", "c1" } });
    QVERIFY2(a.ok(), qPrintable(sentence(a)));
    QCOMPARE(pairOf(f, *a, "r1")->method, MatchMethod::Manual);
    QCOMPARE(pairOf(f, *a, "r1")->confidence, 1.0);

    QTemporaryDir folder;
    const QString path = folder.filePath("map.json");
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(R"({"pairs":[{"float":"a","quantized":"b"},{"float":"c","quantized":"d"}]})");
    file.close();
    const auto pairs = readManualLinks(path.toStdString());
    QVERIFY(pairs.ok());
    QCOMPARE(pairs->pairs, (ManualPairs { { "a", "b" }, { "c", "d" } }));
    QVERIFY(pairs->apart.empty());
}

void MatchTests::pairsAreKeptApart()
{
    const Prepared f = convChain(), q = quantizedChain();
    const auto found = alignOf(f, q);
    QVERIFY2(found.ok(), qPrintable(sentence(found)));
    const ValuePair* pair = pairOf(f, *found, "r1");
    QVERIFY(pair);
    const ManualLinks links { { { "c1", "c1" } }, { { "r1", q.plan->graph().value(pair->quantValue).name } } };
    const auto apart = align(*f.plan, *q.plan, *q.view, links);
    QVERIFY2(apart.ok(), qPrintable(sentence(apart)));
    QVERIFY(!pairOf(f, *apart, "r1"));
    QVERIFY(std::ranges::find(apart->unmatchedFloat, pair->floatValue) != apart->unmatchedFloat.end());
    QCOMPARE(apart->values.size(), found->values.size() - 1);

    const ManualLinks linked = withLink(links, "r1", links.apart[0].second);
    QVERIFY(linked.apart.empty());
    QCOMPARE(linked.pairs.size(), size_t(2));
    QCOMPARE(withLink(linked, "c1", "other").pairs.size(), size_t(2)); // in place of its first partner
    QVERIFY(withoutLink(linked, "c1", "c1").apart.empty());
    QVERIFY(withoutLink(withoutLink(linked, "r1", links.apart[0].second), "r1", links.apart[0].second).apart
        == links.apart);

    QTemporaryDir folder;
    QFile file(folder.filePath("map.json"));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(manualLinksJson(links).c_str());
    file.close();
    const auto read = readManualLinks(file.fileName().toStdString());
    QVERIFY(read.ok());
    QVERIFY(*read == links);
}

void MatchTests::refusesWrongMaps()
{
    const Prepared f = convChain(), q = quantizedChain();
    const auto noFloat = alignOf(f, q, { { "nobody", "c1" } });
    QVERIFY(!noFloat.ok());
    QVERIFY2(sentence(noFloat).contains("float.onnx") && sentence(noFloat).contains("nobody"),
        qPrintable(sentence(noFloat)));
    const auto noQuant = alignOf(f, q, { { "r1", "nothing" } });
    QVERIFY(!noQuant.ok());
    QVERIFY2(sentence(noQuant).contains("quant.onnx") && sentence(noQuant).contains("nothing"),
        qPrintable(sentence(noQuant)));
    const auto unequal = alignOf(f, q, { { "c1", "x_DequantizeLinear_Output" } });
    QVERIFY(!unequal.ok());
    QVERIFY2(
        sentence(unequal).contains("1x4x5x5") && sentence(unequal).contains("1x2x5x5"), qPrintable(sentence(unequal)));

    QTemporaryDir folder;
    const std::string path = folder.filePath("map.json").toStdString();
    for (const char* text : { "", "[]", "{", "{\"pairs\":1}", "{\"pairs\":[1]}", "{\"pairs\":[{\"float\":\"a\"}]}",
             "{\"pairs\":[{\"float\":1,\"quantized\":\"b\"}]}" }) {
        QFile file(QString::fromStdString(path));
        QVERIFY(file.open(QIODevice::WriteOnly | QIODevice::Truncate));
        file.write(text);
        file.close();
        const auto pairs = readManualLinks(path);
        QVERIFY2(!pairs.ok(), text);
        QCOMPARE(pairs.issue().file, path);
        QVERIFY(!pairs.issue().remedy.empty());
    }
    QVERIFY(!readManualLinks(path + ".missing").ok());
    QVERIFY(!readManualLinks(folder.path().toStdString()).ok());
}

void MatchTests::refusesAnotherNetwork()
{
    const Prepared f = convChain();
    const Prepared other = SmallModel("other.onnx")
                               .input("x", { 1, 2, 5, 5 })
                               .constant("v1", Tensor::of<float>(kWeight, randomFloats(72, 77)))
                               .constant("v2", Tensor::of<float>({ 4, 4, 3, 3 }, randomFloats(144, 78)))
                               .node("Conv", { "x", "v1" }, { "c1" }, kPads)
                               .node("Relu", { "c1" }, { "r1" })
                               .node("Conv", { "r1", "v2" }, { "y" }, kPads)
                               .output("y")
                               .finish();
    const auto a = alignOf(f, other);
    QVERIFY(!a.ok());
    QCOMPARE(a.issue().kind, IssueKind::BadInput);
    QVERIFY2(sentence(a).startsWith("other.onnx") && sentence(a).contains("another network"), qPrintable(sentence(a)));
    QVERIFY(!sentence(a).contains('\n'));

    const Prepared without
        = SmallModel("without.onnx").input("x", { 1, 2, 5, 5 }).node("Sigmoid", { "x" }, { "y" }).output("y").finish();
    const auto b = alignOf(f, without);
    QVERIFY(!b.ok());
    QVERIFY2(sentence(b).contains("another network"), qPrintable(sentence(b)));
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

QTEST_APPLESS_MAIN(MatchTests)
#include "match_test.moc"
