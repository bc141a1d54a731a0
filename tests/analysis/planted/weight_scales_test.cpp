// SPDX-License-Identifier: GPL-3.0-or-later
// Scales of weights that are too coarse or too small, and factors that went from layer to layer.
#include "tests/analysis/comparing.h"
#include "tests/analysis/products.h"

using namespace qs;
using namespace qs::test;

namespace {

constexpr int64_t kWidth = 32, kRows = 64;
constexpr float kScale = 1.f / 127;

FixedData rows() { return FixedData({ Tensor::of<float>({ kRows, kWidth }, normals(kRows * kWidth, 9)) }); }

/// Rounded to a scale for each column: codes of a matrix [in, out].
std::vector<int8_t> columnCodes(const std::vector<float>& w, const std::vector<float>& scales)
{
    std::vector<int8_t> codes;
    for (size_t i = 0; i < w.size(); ++i)
        codes.push_back(int8_t(std::clamp(std::nearbyint(w[i] / scales[i % scales.size()]), -127.f, 127.f)));
    return codes;
}

/// x -> MatMul -> Add -> Relu -> a -> MatMul -> y; in the other file with these factors of the inner channels.
struct Equalized {
    std::vector<float> outer, bias, inner; ///< factors of the first product's columns, its bias, the second's rows
};
Prepared twoLayers(const std::optional<Equalized>& factors)
{
    std::vector<float> v = uniform(kWidth * kWidth, 5), b = uniform(kWidth, 6), w = uniform(kWidth * kWidth, 7);
    SmallModel m(factors ? "q" : "f");
    m.input("x", { kRows, kWidth });
    if (!factors) {
        m.constant("v", Tensor::of<float>({ kWidth, kWidth }, v)).constant("b", Tensor::of<float>({ kWidth }, b));
        m.constant("w", Tensor::of<float>({ kWidth, kWidth }, w));
        m.node("Gemm", { "x", "v", "b" }, { "p" }).node("Relu", { "p" }, { "a" });
        return m.node("MatMul", { "a", "w" }, { "y" }).output("y").finish();
    }
    std::vector<float> scales;
    for (int64_t i = 0; i < kWidth; ++i)
        scales.push_back(factors->outer[size_t(i)] * kScale);
    for (size_t i = 0; i < v.size(); ++i) {
        v[i] *= factors->outer[i % kWidth];
        w[i] *= factors->inner[i / kWidth];
    }
    std::vector<int32_t> bias;
    const float most = std::ranges::max(factors->inner) * kScale, input = 1.f / 32;
    for (size_t i = 0; i < b.size(); ++i)
        bias.push_back(int32_t(std::lround(b[i] * factors->bias[i] / (input * scales[i]))));
    std::vector<float> biasScales = scales;
    for (float& s : biasScales)
        s *= input;
    m.qdq<int8_t>("x", "x_dq", input, 0).weight("v", { kWidth, kWidth }, columnCodes(v, scales), scales, 1);
    m.constant("b_quantized", Tensor::of<int32_t>({ kWidth }, bias))
        .constant("b_scale", Tensor::of<float>({ kWidth }, biasScales))
        .node("DequantizeLinear", { "b_quantized", "b_scale" }, { "b" }, { { "axis", int64_t(0) } });
    m.weight("w", { kWidth, kWidth }, columnCodes(w, { most }), { most });
    m.node("Gemm", { "x_dq", "v", "b" }, { "p" }).node("Relu", { "p" }, { "a" });
    return m.node("MatMul", { "a", "w" }, { "y" }).output("y").finish();
}

/// x -> MatMul -> y, its weight in codes of these scales of columns; rounded to `before` before, where that is given.
Prepared oneLayer(bool codes, const std::vector<float>& scales, float before, float largest)
{
    std::vector<float> w = uniform(kWidth * kWidth, 5);
    for (size_t i = 0; i < 5; ++i)
        w[i * 200] = i % 2 == 0 ? -largest : largest; // a few large ones
    SmallModel m(codes ? "q" : "f");
    m.input("x", { kRows, kWidth });
    if (codes) {
        std::vector<float> rounded = w;
        for (float& v : rounded)
            v = before > 0 ? std::nearbyint(v / before) * before : v;
        m.qdq<int16_t>("x", "x_dq", 8.f / 32767, 0)
            .weight("w", { kWidth, kWidth }, columnCodes(rounded, scales), scales, 1);
    } else {
        m.constant("w", Tensor::of<float>({ kWidth, kWidth }, w));
    }
    return m.node("MatMul", { codes ? "x_dq" : "x", "w" }, { "y" }).output("y").finish();
}

} // namespace

class WeightScalesTests : public QObject {
    Q_OBJECT
private slots:
    void equalized_data()
    {
        QTest::addColumn<bool>("bias"); // has the factors
        QTest::addColumn<bool>("inner");
        QTest::addColumn<bool>("note");
        QTest::newRow("equalized") << true << true << true;
        QTest::newRow("bias left as it was") << false << true << false;
        QTest::newRow("not taken away") << true << false << false;
    }
    /// One note where factors cancel out; errors or warnings else.
    void equalized()
    {
        QFETCH(bool, bias);
        QFETCH(bool, inner);
        QFETCH(bool, note);
        Equalized e;
        for (size_t i = 0; i < size_t(kWidth); ++i) {
            const float factor = 0.5f + 0.05f * float(i);
            e.outer.push_back(factor);
            e.bias.push_back(bias ? factor : 1);
            e.inner.push_back(inner ? 1 / factor : 1);
        }
        const Comparison c = compared(twoLayers({}), twoLayers(e), rows());
        const auto told = [&](Severity worst) {
            return std::ranges::count_if(c.findings, [&](const Finding& f) {
                return (f.rule == Rule::WeightsDiffer || f.rule == Rule::WrongBiasScale) && f.severity <= worst;
            });
        };
        QVERIFY2((told(Severity::Warning) == 0) == note, qPrintable(rulesOf(c)));
        if (!note)
            return;
        QCOMPARE(told(Severity::Note), 1);
        const Finding* f = findingOf(c, Rule::WeightsDiffer);
        QCOMPARE(f->places.size(), size_t(2));
        QCOMPARE(f->cause, std::string("equalized"));
    }

    void scales_data()
    {
        QTest::addColumn<float>("factor"); // of the right scale
        QTest::addColumn<float>("before"); // what was rounded to before, in right steps
        QTest::addColumn<float>("largest");
        QTest::addColumn<QString>("title");
        QTest::newRow("right") << 1.f << 0.f << 1.f << "";
        QTest::newRow("rounded twice") << 12.f << 1.f << 1.f << "The scale of the weights of n_y is too coarse";
        QTest::newRow("clipped a little") << 1.f << 0.f << 1.06f << "The scale of the weights of n_y is too small";
        QTest::newRow("clipped more") << 1.f << 0.f << 1.2f << "The scale of the weights of n_y is too small";
    }
    void scales()
    {
        QFETCH(float, factor);
        QFETCH(float, before);
        QFETCH(float, largest);
        QFETCH(QString, title);
        const std::vector<float> scales(size_t(kWidth), factor * kScale);
        const Comparison c
            = compared(oneLayer(false, scales, 0, largest), oneLayer(true, scales, before * kScale, largest), rows());
        QVERIFY2(!findingOf(c, Rule::WeightsDiffer), qPrintable(rulesOf(c)));
        const Finding* f = findingOf(c, Rule::WeightsTooCoarse);
        QVERIFY2((f != nullptr) == !title.isEmpty(), qPrintable(rulesOf(c)));
        if (f)
            QCOMPARE(QString::fromStdString(f->title), title);
    }
};

QTEST_GUILESS_MAIN(WeightScalesTests)
#include "weight_scales_test.moc"
