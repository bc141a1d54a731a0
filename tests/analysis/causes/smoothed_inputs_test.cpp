// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/rules/findings.h"
#include "tests/analysis/comparing.h"
#include "tests/analysis/products.h"

#include <cmath>

/// Factors that go from a product's input to its weight (SmoothQuant), and sizes that the file says.
namespace {

using namespace qs;
using namespace qs::test;

constexpr int64_t kRows = 64, kWidth = 32;

FixedData rows() { return FixedData({ Tensor::of<float>({ kRows, kWidth }, normals(kRows * kWidth, 9)) }); }

/// What stands before the product, and what the quantized file does there.
struct Smoothing {
    std::string before; ///< "", "Mul", "Div" or "LayerNormalization": what both files have
    bool inserted = false; ///< the factors are a node of their own, else in the constant of what both have
    bool given = true; ///< the input has them
    bool taken = true; ///< the weight takes them away
};

std::vector<float> factors()
{
    std::vector<float> all;
    for (int64_t i = 0; i < kWidth; ++i)
        all.push_back(std::exp2((float(i % 7) - 3) / 2));
    return all;
}

/// x -> [before] -> a -> [Mul] -> MatMul -> y
Prepared net(const Smoothing& s, bool codes)
{
    std::vector<float> w = uniform(kWidth * kWidth, 5), gamma = uniform(kWidth, 6, 0.5f, 2), beta = uniform(kWidth, 7);
    const std::vector<float> f = factors();
    SmallModel m(codes ? "q" : "f");
    m.input("x", { kRows, kWidth });
    for (size_t i = 0; codes && i < size_t(kWidth); ++i) {
        if (s.taken)
            for (size_t k = 0; k < size_t(kWidth); ++k)
                w[i * kWidth + k] *= f[i];
        if (!s.inserted && s.given) {
            gamma[i] = s.before == "Div" ? gamma[i] * f[i] : gamma[i] / f[i];
            beta[i] /= f[i];
        }
    }
    m.constant("gamma", Tensor::of<float>({ kWidth }, gamma)).constant("beta", Tensor::of<float>({ kWidth }, beta));
    std::string value = "x";
    if (s.before == "LayerNormalization") {
        m.node(s.before, { value, "gamma", "beta" }, { "a" });
    } else if (!s.before.empty()) {
        m.node(s.before, { value, "gamma" }, { "a" });
    }
    value = s.before.empty() ? value : "a";
    if (!codes) {
        m.constant("w", Tensor::of<float>({ kWidth, kWidth }, w));
        return m.node("MatMul", { value, "w" }, { "y" }).output("y").finish();
    }
    const auto quantize = [&](const std::string& name) {
        m.qdq<int16_t>(name, name + "_dq", 32.f / 32767, 0);
        return name + "_dq";
    };
    if (s.inserted && s.given) {
        std::vector<float> inverse = f;
        std::ranges::transform(f, inverse.begin(), [](float v) { return 1 / v; });
        m.constant("smooth", Tensor::of<float>({ kWidth }, inverse));
        m.node("Mul", { quantize(value), "smooth" }, { "smoothed" });
        value = "smoothed";
    }
    const float scale = 3.f / 127;
    m.weight("w", { kWidth, kWidth }, symmetricCodes(w, { scale }), { scale });
    return m.node("MatMul", { quantize(value), "w" }, { "y" }).output("y").finish();
}

class SmoothedInputsTests : public QObject {
    Q_OBJECT
private slots:
    void smoothed_data()
    {
        QTest::addColumn<QString>("before");
        QTest::addColumn<bool>("inserted");
        QTest::addColumn<bool>("given");
        QTest::addColumn<bool>("taken");
        for (const QString& before : { QString(), QString("Mul"), QString("Div"), QString("LayerNormalization") })
            for (const bool inserted : { true, false })
                if (inserted || !before.isEmpty()) {
                    const QString name = before + (inserted ? " and a node" : "");
                    QTest::addRow("%s", qPrintable(name)) << before << inserted << true << true;
                    QTest::addRow("%s, not taken away", qPrintable(name)) << before << inserted << true << false;
                    QTest::addRow("%s, not given", qPrintable(name)) << before << inserted << false << true;
                }
    }
    /// A factor that the weight takes away again is no fault; one of the two alone is.
    void smoothed()
    {
        QFETCH(QString, before);
        QFETCH(bool, inserted);
        QFETCH(bool, given);
        QFETCH(bool, taken);
        const Smoothing s { before.toStdString(), inserted, given, taken };
        CompareOptions options;
        options.prove = true;
        const Comparison c = compared(net({ s.before }, false), net(s, true), rows(), options);
        const bool told = std::ranges::any_of(c.findings, [](const Finding& f) {
            return (f.rule == Rule::WeightsDiffer || f.rule == Rule::ModelsDiffer) && f.severity <= Severity::Warning;
        });
        QVERIFY2(told != (given && taken), qPrintable(rulesOf(c)));
        if (!given || !taken)
            return;
        QVERIFY2(std::ranges::none_of(c.findings, // the ranges here are those of all rows
                     [](const Finding& f) { return f.severity <= Severity::Warning && f.rule != Rule::RangeTooLarge; }),
            qPrintable(rulesOf(c)));
        QVERIFY(c.network && c.network->same());
        for (const WeightRow& row : c.weights)
            QVERIFY2(row.similarity.sqnrDb.value_or(0) > 25, row.name.c_str());
        for (const ActivationRow& row : c.activations)
            QVERIFY2(row.accumulated.sqnrDb.value_or(99) > 20, row.name.c_str());
    }
};

} // namespace

QTEST_GUILESS_MAIN(SmoothedInputsTests)
#include "smoothed_inputs_test.moc"
