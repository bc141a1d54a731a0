// SPDX-License-Identifier: GPL-3.0-or-later
// Factors that went from layer to layer.
#include "tests/analysis/comparing.h"
#include "tests/analysis/products.h"

using namespace qs;
using namespace qs::test;

namespace {

constexpr int64_t kWidth = 32, kRows = 64;
constexpr float kScale = 1.f / 127;

FixedData rows() { return FixedData({ Tensor::of<float>({ kRows, kWidth }, normals(kRows * kWidth, 9)) }); }

/// x -> MatMul -> Add -> Relu -> a -> MatMul -> y; in the other file with these factors of the inner channels.
struct Equalized {
    std::vector<float> outer, bias, inner; ///< factors of the first product's columns, its bias, the second's rows
    bool floatBias = false;
};
struct LayerForm {
    bool gated = false; ///< "a" is "p" times a gate in place of Relu
    bool split = false; ///< the bias is added by a node of its own, and stored in 8 bits
    bool bare = false; ///< no bias
};
/// x -> "p", "p" -> "a", "a" -> y.
Prepared layersOf(SmallModel& m, const std::string& x, const LayerForm& form)
{
    if (form.bare)
        m.node("MatMul", { x, "v" }, { "p" });
    else if (form.split)
        m.node("MatMul", { x, "v" }, { "s" }).node("Add", { "s", "b" }, { "p" });
    else
        m.node("Gemm", { x, "v", "b" }, { "p" });
    if (form.gated)
        m.node("Sigmoid", { "x" }, { "gate" }).node("Mul", { "gate", "p" }, { "a" });
    else
        m.node("Relu", { "p" }, { "a" });
    return m.node("MatMul", { "a", "w" }, { "y" }).output("y").finish();
}
Prepared twoLayers(const std::optional<Equalized>& factors, const LayerForm& form = {})
{
    std::vector<float> v = uniform(kWidth * kWidth, 5), b = uniform(kWidth, 6), w = uniform(kWidth * kWidth, 7);
    for (float& value : b)
        value *= 4; // as large as the sums
    SmallModel m(factors ? "q" : "f");
    m.input("x", { kRows, kWidth });
    if (!factors) {
        m.constant("v", Tensor::of<float>({ kWidth, kWidth }, v)).constant("b", Tensor::of<float>({ kWidth }, b));
        m.constant("w", Tensor::of<float>({ kWidth, kWidth }, w));
        return layersOf(m, "x", form);
    }
    std::vector<float> scales;
    for (int64_t i = 0; i < kWidth; ++i)
        scales.push_back(factors->outer[size_t(i)] * kScale);
    for (size_t i = 0; i < v.size(); ++i) {
        v[i] *= factors->outer[i % kWidth];
        w[i] *= factors->inner[i / kWidth];
    }
    std::vector<int32_t> bias;
    constexpr float kBiasStep = 1.f / 16; // of values up to 4 x 1.5
    const float most = std::ranges::max(factors->inner) * kScale, input = 1.f / 32;
    for (size_t i = 0; i < b.size(); ++i)
        bias.push_back(int32_t(std::lround(b[i] * factors->bias[i] / (input * scales[i]))));
    std::vector<float> biasScales = scales;
    for (float& s : biasScales)
        s *= input;
    m.qdq<int8_t>("x", "x_dq", input, 0).weight("v", { kWidth, kWidth }, columnCodes(v, scales), scales, 1);
    for (size_t i = 0; i < b.size(); ++i)
        b[i] *= factors->bias[i];
    if (factors->floatBias)
        m.constant("b", Tensor::of<float>({ kWidth }, b));
    else if (form.split)
        m.weight("b", { kWidth }, columnCodes(b, { kBiasStep }), { kBiasStep });
    else
        m.constant("b_quantized", Tensor::of<int32_t>({ kWidth }, bias))
            .constant("b_scale", Tensor::of<float>({ kWidth }, biasScales))
            .node("DequantizeLinear", { "b_quantized", "b_scale" }, { "b" }, { { "axis", int64_t(0) } });
    m.weight("w", { kWidth, kWidth }, columnCodes(w, { most }), { most });
    return layersOf(m, "x_dq", form);
}

/// x -> Conv -> BatchNormalization -> Relu -> a -> Conv -> y; in the other file the normalization is folded into the
/// first weight and a bias, and the channels of "a" have factors.
Prepared normalizedLayers(bool quantized, bool floatBias)
{
    constexpr int64_t kInputs = 8, kSize = 8;
    std::vector<float> v = uniform(kWidth * kInputs, 5), w = uniform(kInputs * kWidth, 7);
    std::vector<float> gamma, beta = uniform(kWidth, 6), mean = uniform(kWidth, 8), factors;
    for (size_t i = 0; i < size_t(kWidth); ++i) {
        gamma.push_back(0.4f + 0.06f * float(i));
        factors.push_back((0.7f + 0.2f * float(i % 5)) / gamma[i]);
    }
    SmallModel m(quantized ? "q" : "f");
    m.input("x", { 1, kInputs, kSize, kSize });
    if (!quantized) {
        const std::vector<float> ones(size_t(kWidth), 1);
        const Shape channels { kWidth };
        m.constant("v", Tensor::of<float>({ kWidth, kInputs, 1, 1 }, v))
            .constant("gamma", Tensor::of<float>(channels, gamma))
            .constant("beta", Tensor::of<float>(channels, beta))
            .constant("mean", Tensor::of<float>(channels, mean))
            .constant("ones", Tensor::of<float>(channels, ones))
            .constant("w", Tensor::of<float>({ kInputs, kWidth, 1, 1 }, w));
        m.node("Conv", { "x", "v" }, { "c" })
            .node("BatchNormalization", { "c", "gamma", "beta", "mean", "ones" }, { "p" })
            .node("Relu", { "p" }, { "a" });
        return m.node("Conv", { "a", "w" }, { "y" }).output("y").finish();
    }
    constexpr float kInput = 1.f / 32;
    std::vector<float> scales, bias;
    for (size_t c = 0; c < size_t(kWidth); ++c) {
        scales.push_back(gamma[c] * factors[c] * kScale);
        bias.push_back((beta[c] - mean[c] * gamma[c]) * factors[c]);
        for (size_t i = 0; i < size_t(kInputs); ++i) {
            v[c * kInputs + i] *= gamma[c] * factors[c];
            w[i * kWidth + c] /= factors[c];
        }
    }
    float most = 0;
    for (const float value : w)
        most = std::max(most, std::fabs(value) / 127);
    m.qdq<int8_t>("x", "x_dq", kInput, 0).weight("v2", { kWidth, kInputs, 1, 1 }, symmetricCodes(v, scales), scales);
    std::vector<int32_t> codes;
    std::vector<float> biasScales;
    for (size_t c = 0; c < size_t(kWidth); ++c) {
        biasScales.push_back(kInput * scales[c]);
        codes.push_back(int32_t(std::lround(bias[c] / biasScales[c])));
    }
    if (floatBias)
        m.constant("b", Tensor::of<float>({ kWidth }, bias));
    else
        m.constant("b_quantized", Tensor::of<int32_t>({ kWidth }, codes))
            .constant("b_scale", Tensor::of<float>({ kWidth }, biasScales))
            .node("DequantizeLinear", { "b_quantized", "b_scale" }, { "b" }, { { "axis", int64_t(0) } });
    m.weight("w2", { kInputs, kWidth, 1, 1 }, symmetricCodes(w, { most }), { most });
    m.node("Conv", { "x_dq", "v2", "b" }, { "p" }).node("Relu", { "p" }, { "a" });
    return m.node("Conv", { "a", "w2" }, { "y" }).output("y").finish();
}

} // namespace

class EqualizedLayersTests : public QObject {
    Q_OBJECT
private slots:
    void equalized_data()
    {
        QTest::addColumn<float>("bias"); // of its factors; 0: none
        QTest::addColumn<bool>("floats"); // in which it is stored
        QTest::addColumn<bool>("inner"); // factors are taken away again
        QTest::addColumn<QString>("cause"); // of what is told of the bias
        QTest::newRow("equalized") << 1.f << false << true << "";
        QTest::newRow("equalized, bias in float") << 1.f << true << true << "";
        QTest::newRow("bias left as it was") << 0.f << false << true << "without_factors";
        QTest::newRow("float bias left as it was") << 0.f << true << true << "without_factors";
        QTest::newRow("half of the bias") << 0.5f << false << true << "other_factors";
        QTest::newRow("half of the float bias") << 0.5f << true << true << "other_factors";
        QTest::newRow("not taken away") << 1.f << false << false << "";
    }
    /// One note where factors cancel out, and what is wrong with a bias by itself; errors or warnings else.
    void equalized()
    {
        QFETCH(float, bias);
        QFETCH(bool, floats);
        QFETCH(bool, inner);
        QFETCH(QString, cause);
        Equalized e;
        for (size_t i = 0; i < size_t(kWidth); ++i) {
            const float factor = 0.5f + 0.05f * float(i);
            e.outer.push_back(factor);
            e.bias.push_back(bias > 0 ? bias * factor : 1);
            e.inner.push_back(inner ? 1 / factor : 1);
        }
        e.floatBias = floats;
        const Comparison c = compared(twoLayers({}), twoLayers(e), rows());
        const auto told = [&](Rule rule, Severity worst) {
            return std::ranges::count_if(
                c.findings, [&](const Finding& f) { return f.rule == rule && f.severity <= worst; });
        };
        QCOMPARE(told(Rule::WeightsDiffer, Severity::Warning) == 0, inner);
        // Between equalized layers the float values are taken times the factors.
        const bool good = inner && cause.isEmpty();
        for (const ActivationRow& row : c.activations) {
            const bool between = row.name == "p" || row.name == "a";
            QVERIFY2(row.equalized == (inner && between), row.name.c_str());
            QVERIFY2((row.accumulated.sqnrDb.value_or(0) > 30) == (good || row.name == "x"), row.name.c_str());
        }
        if (!inner)
            return;
        const Finding* f = findingOf(c, Rule::WeightsDiffer);
        QVERIFY2(f && told(Rule::WeightsDiffer, Severity::Note) == 1, qPrintable(rulesOf(c)));
        QCOMPARE(f->places.size(), size_t(2));
        QCOMPARE(f->cause, std::string("equalized"));
        QCOMPARE(f->summary.find("so have their biases;") != std::string::npos, good);
        const Finding* b = findingOf(c, Rule::WrongBiasScale);
        QVERIFY2(told(Rule::WrongBiasScale, Severity::Note) == (good ? 0 : 1), qPrintable(rulesOf(c)));
        if (!good) {
            QCOMPARE(b->cause, cause.toStdString());
            QCOMPARE(b->node, std::string("n_p"));
            QCOMPARE(b->severity, bias > 0 ? Severity::Warning : Severity::Error);
            QCOMPARE(b->change.kind, RemedyKind::None);
            return;
        }
        for (const Rule rule : { Rule::SensitiveOperator, Rule::Inherited, Rule::RangeTooSmall })
            QVERIFY2(!findingOf(c, rule), qPrintable(rulesOf(c)));
    }

    void equalizedForms_data()
    {
        QTest::addColumn<bool>("gated");
        QTest::addColumn<bool>("split");
        QTest::addColumn<bool>("bare");
        QTest::newRow("the product with a gate") << true << false << false;
        QTest::newRow("a bias added behind, in 8 bits") << false << true << false;
        QTest::newRow("both") << true << true << false;
        QTest::newRow("no bias") << false << false << true;
    }
    /// Factors go through what is multiplied by a value without any, and a bias has them wherever it is added.
    void equalizedForms()
    {
        QFETCH(bool, gated);
        QFETCH(bool, split);
        QFETCH(bool, bare);
        Equalized e;
        for (size_t i = 0; i < size_t(kWidth); ++i) {
            e.outer.push_back(0.5f + 0.05f * float(i));
            e.bias.push_back(e.outer.back());
            e.inner.push_back(1 / e.outer.back());
        }
        const LayerForm form { gated, split, bare };
        const Comparison c = compared(twoLayers({}, form), twoLayers(e, form), rows());
        for (const Finding& f : c.findings)
            QVERIFY2(f.severity == Severity::Note || (f.rule != Rule::WeightsDiffer && f.rule != Rule::WrongBiasScale),
                qPrintable(rulesOf(c)));
        const Finding* f = findingOf(c, Rule::WeightsDiffer);
        QVERIFY2(f && f->cause == "equalized", qPrintable(rulesOf(c)));
        QCOMPARE(f->places.size(), size_t(2));
        QVERIFY2((f->summary.find("bias") == std::string::npos) == bare, f->summary.c_str());
        QVERIFY2(rowOf(c, "a").equalized, qPrintable(rulesOf(c)));
    }

    void equalizedBehindNormalization_data()
    {
        QTest::addColumn<bool>("floats");
        QTest::newRow("int32 bias") << false;
        QTest::newRow("bias in float") << true;
    }
    /// The float file's normalization is folded before factors are looked for.
    void equalizedBehindNormalization()
    {
        QFETCH(bool, floats);
        const FixedData data({ Tensor::of<float>({ 1, 8, 8, 8 }, normals(512, 9)) });
        CompareOptions options;
        options.prove = true;
        const Comparison c = compared(normalizedLayers(false, floats), normalizedLayers(true, floats), data, options);
        for (const Finding& f : c.findings)
            QVERIFY2(f.severity == Severity::Note
                    || (f.rule != Rule::WeightsDiffer && f.rule != Rule::WrongBiasScale
                        && f.rule != Rule::ModelsDiffer),
                qPrintable(rulesOf(c)));
        const Finding* f = findingOf(c, Rule::WeightsDiffer);
        QVERIFY2(f, qPrintable(rulesOf(c)));
        if (!floats) { // else the biases tell already that factors were moved
            QCOMPARE(f->cause, std::string("equalized"));
            QCOMPARE(f->places.size(), size_t(2));
        }
        QCOMPARE(std::ranges::count_if(c.weights, &WeightRow::equalized), floats ? 2 : 3);
        QVERIFY2(c.network && c.network->same(), qPrintable(rulesOf(c)));
    }
};

QTEST_GUILESS_MAIN(EqualizedLayersTests)
#include "equalized_layers_test.moc"
