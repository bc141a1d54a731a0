// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/bypass/network_proof.h"
#include "core/analysis/rules/findings.h"
#include "core/graph/domains.h"
#include "tests/analysis/comparing.h"
#include "tests/analysis/products.h"

using namespace qs;
using namespace qs::test;

/// What lies between operators on codes: elements that Pad and Resize make, values before a Relu, biases and weights
/// that several nodes read.
namespace {

FixedData samplesOf(const Shape& shape, size_t count)
{
    std::vector<Tensor> samples;
    for (size_t i = 0; i < count; ++i)
        samples.push_back(Tensor::of<float>(shape, uniform(size_t(*elementCount(shape)), uint32_t(41 + i))));
    return FixedData(std::move(samples));
}

const Tensor kPads = Tensor::of<int64_t>({ 8 }, { 0, 0, 1, 2, 0, 0, 1, 0 });
const Tensor kScales = Tensor::of<float>({ 4 }, { 1, 1, 2, 2 });

Prepared enlarged()
{
    return SmallModel("f")
        .input("x", { 1, 2, 4, 4 })
        .constant("pads", kPads)
        .constant("sizes", kScales)
        .node("Pad", { "x", "pads" }, { "p" })
        .node("Resize", { "p", "", "sizes" }, { "y" }, { { "mode", std::string("linear") } })
        .output("y")
        .finish();
}

/// As ONNX Runtime's QOperator format has it. Without a filler codes are padded with code 0.
Prepared enlargedCodes(bool filled)
{
    SmallModel model("q");
    model.input("x", { 1, 2, 4, 4 }).constant("pads", kPads).constant("sizes", kScales);
    model.constant("s", Tensor::scalar(2.f / 255)).constant("z", Tensor::scalar<uint8_t>(127));
    model.node("QuantizeLinear", { "x", "s", "z" }, { "x_quantized" });
    model.node("Pad", { "x_quantized", "pads", filled ? "z" : "" }, { "p_quantized" });
    model.node("Resize", { "p_quantized", "", "sizes" }, { "y_quantized" }, { { "mode", std::string("linear") } });
    return model.node("DequantizeLinear", { "y_quantized", "s", "z" }, { "y" }).output("y").finish();
}

/// Two layers with one bias.
Prepared twoLayers()
{
    return SmallModel("f")
        .input("x", { 2, 4 })
        .constant("w", Tensor::of<float>({ 4, 4 }, uniform(16, 7)))
        .constant("b", Tensor::of<float>({ 4 }, { 0.9f, -0.8f, 0.7f, -0.9f }))
        .node("Gemm", { "x", "w", "b" }, { "h" })
        .node("Gemm", { "h", "w", "b" }, { "y" })
        .output("y")
        .finish();
}

Prepared twoLayersOnCodes(float hiddenScale)
{
    constexpr float kIn = 1.f / 127, kWeight = 1.f / 127;
    std::vector<int32_t> bias;
    for (const float v : { 0.9f, -0.8f, 0.7f, -0.9f })
        bias.push_back(int32_t(std::lround(v / (kIn * kWeight))));
    SmallModel model("q");
    model.input("x", { 2, 4 }).constant("z", Tensor::scalar<int8_t>(0)).constant("xs", Tensor::scalar(kIn));
    model.constant("w_quantized", Tensor::of<int8_t>({ 4, 4 }, symmetricCodes(uniform(16, 7), { kWeight })));
    model.constant("ws", Tensor::scalar(kWeight)).constant("hs", Tensor::scalar(hiddenScale));
    model.constant("ys", Tensor::scalar(8.f / 127)).constant("b_quantized", Tensor::of<int32_t>({ 4 }, bias));
    model.node("QuantizeLinear", { "x", "xs", "z" }, { "x_quantized" });
    model.node("QGemm", { "x_quantized", "xs", "z", "w_quantized", "ws", "z", "b_quantized", "hs", "z" },
        { "h_quantized" }, {}, kMicrosoftDomain);
    model.node("QGemm", { "h_quantized", "hs", "z", "w_quantized", "ws", "z", "b_quantized", "ys", "z" },
        { "y_quantized" }, {}, kMicrosoftDomain);
    return model.node("DequantizeLinear", { "y_quantized", "ys", "z" }, { "y" }).output("y").finish();
}

class CodesBetweenTests : public QObject {
    Q_OBJECT
private slots:
    void padAndResizeKeepTheirParameters_data()
    {
        QTest::addColumn<bool>("filled");
        QTest::newRow("padded with the code of zero") << true;
        QTest::newRow("padded with code 0") << false;
    }
    void padAndResizeKeepTheirParameters()
    {
        QFETCH(bool, filled);
        const Prepared f = enlarged(), q = enlargedCodes(filled);
        const FixedData data = samplesOf({ 1, 2, 4, 4 }, 3);
        const NetworkVerdict proof
            = networkVerdict(proveNetwork(pairOf(f, q), { (*data.feed(0)).inputs[0] }), Comparison {}).value();
        QVERIFY2(proof.known(), proof.reason.c_str());
        QCOMPARE(proof.same(), filled); // zeros are padded in the float model
        if (!filled)
            return;
        const Comparison c = compared(f, q, data);
        for (const char* name : { "p", "y" }) {
            const ActivationRow& row = rowOf(c, name);
            QVERIFY2(row.accumulated.sqnrDb.value_or(0) > 35, name);
            QCOMPARE(row.params.scale, (std::vector<float> { 2.f / 255 }));
        }
    }

    /// Codes of one scale that are joined and turned before they are dequantized.
    void joinedCodesAreReals()
    {
        const std::vector<int64_t> turned { 0, 2, 3, 1 };
        const auto joined = [&](bool codes) {
            SmallModel m(codes ? "q" : "f");
            m.input("x", { 1, 2, 4, 4 }).node("Neg", { "x" }, { "a" }).node("Relu", { "x" }, { "b" });
            m.constant("s", Tensor::scalar(2.f / 255)).constant("z", Tensor::scalar<uint8_t>(127));
            for (const char* name : { "a", "b" })
                if (codes)
                    m.node("QuantizeLinear", { name, "s", "z" }, { name + std::string("_codes") });
            m.node("Concat", codes ? SmallModel::Names { "a_codes", "b_codes" } : SmallModel::Names { "a", "b" },
                { "c" }, { { "axis", int64_t(1) } });
            m.node("Transpose", { "c" }, { "t" }, { { "perm", turned } });
            if (codes)
                m.node("DequantizeLinear", { "t", "s", "z" }, { "u" });
            return m.node("Neg", { codes ? "u" : "t" }, { "y" }).output("y").finish();
        };
        const Prepared f = joined(false), q = joined(true);
        const FixedData data = samplesOf({ 1, 2, 4, 4 }, 3);
        const Comparison c = compared(f, q, data);
        for (const char* name : { "c", "t", "y" })
            QVERIFY2(rowOf(c, name).accumulated.sqnrDb.value_or(0) > 35, name);
        const NetworkVerdict proof
            = networkVerdict(proveNetwork(pairOf(f, q), { (*data.feed(0)).inputs[0] }), Comparison {}).value();
        QVERIFY2(proof.known() && proof.same(), proof.reason.c_str());
    }

    void aValueBeforeReluIsNoCode()
    {
        CompareOptions options;
        options.nodeAlone = true;
        const Comparison c = compared(product(), productOnCodes(), samplesOf({ 2, 4 }, 4), options);
        QVERIFY(rowOf(c, "m").nodeSqnrDb.value_or(0) > 25);
        QVERIFY(rowOf(c, "y").nodeSqnrDb.value_or(0) > 25);
    }

    void aBiasOfTwoScalesIsFound_data()
    {
        QTest::addColumn<float>("hiddenScale");
        QTest::addColumn<bool>("found");
        QTest::newRow("three times") << 3.f / 127 << true;
        QTest::newRow("alike") << 1.f / 127 << false;
    }
    void aBiasOfTwoScalesIsFound()
    {
        QFETCH(float, hiddenScale);
        QFETCH(bool, found);
        const Comparison c = compared(twoLayers(), twoLayersOnCodes(hiddenScale), samplesOf({ 2, 4 }, 6));
        const Finding* const f = findingOf(c, Rule::WrongBiasScale);
        QVERIFY2((f != nullptr) == found, qPrintable(rulesOf(c)));
        if (!found)
            return;
        QCOMPARE(f->node, std::string("n_y"));
        QCOMPARE(f->tensor, std::string("b"));
        QCOMPARE(f->severity, Severity::Error);
    }

    void everyReaderOfAWeightHasItsNoise()
    {
        const std::vector<float> weights = uniform(16, 9);
        SmallModel f("f"), q("q");
        f.input("x", { 2, 4 }).constant("w", Tensor::of<float>({ 4, 4 }, weights));
        f.node("MatMul", { "x", "w" }, { "h" }).node("MatMul", { "h", "w" }, { "y" }).output("y");
        q.input("x", { 2, 4 }).weight("w", { 4, 4 }, symmetricCodes(weights, { 0.2f }), { 0.2f });
        q.node("MatMul", { "x", "w" }, { "h" }).qdq("h", "h_dq", 3.f / 127, int8_t(0));
        q.node("MatMul", { "h_dq", "w" }, { "y" }).output("y");
        const Comparison c = compared(f.finish(), q.finish(), samplesOf({ 2, 4 }, 8));
        for (const char* name : { "h", "y" })
            QVERIFY2(rowOf(c, name).noise.weights.value_or(0) > 0, name);
    }
};

} // namespace

QTEST_GUILESS_MAIN(CodesBetweenTests)

#include "codes_between_test.moc"
