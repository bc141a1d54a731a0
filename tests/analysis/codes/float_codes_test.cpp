// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/analysis/comparing.h"
#include "tests/analysis/products.h"

#include <cmath>
#include <numeric>

using namespace qs;
using namespace qs::test;

namespace {

constexpr int64_t kElements = 512, kSide = 16;
constexpr float kBeyondOne = 448; ///< the largest float8e4m3fn

Tensor zeros(const Shape& shape)
{
    Tensor t = Tensor::allocate(DType::Float8E4M3FN, shape);
    std::ranges::fill(t.fill<uint8_t>(), uint8_t(0));
    return t;
}

/// x -> Neg -> a -> Neg -> y, with codes of float8 at `a`.
Prepared twice(float scale)
{
    SmallModel m(scale > 0 ? "q" : "f");
    m.input("x", { kElements }).node("Neg", { "x" }, { "a" });
    if (scale > 0)
        m.constant("s", Tensor::scalar(scale))
            .constant("z", zeros({}))
            .node("QuantizeLinear", { "a", "s", "z" }, { "codes" })
            .node("DequantizeLinear", { "codes", "s", "z" }, { "read" });
    return m.node("Neg", { scale > 0 ? "read" : "a" }, { "y" }).output("y").finish();
}

/// A product and its bias; the weight as codes of float8, with a scale a channel.
Prepared product(bool codes, float bias)
{
    SmallModel m(codes ? "q" : "f");
    m.input("x", { kSide, kSide });
    m.constant("w", Tensor::of<float>({ kSide, kSide }, uniform(int(kSide * kSide), 5)));
    std::vector<float> b = uniform(int(kSide), 6);
    for (float& v : b)
        v += bias;
    m.constant("b", Tensor::of<float>({ kSide }, b));
    if (codes)
        m.constant("s", Tensor::of<float>({ kSide }, std::vector<float>(size_t(kSide), 1 / kBeyondOne)))
            .constant("z", zeros({ kSide }))
            .node("QuantizeLinear", { "w", "s", "z" }, { "w_codes" }, { { "axis", int64_t(1) } })
            .node("DequantizeLinear", { "w_codes", "s", "z" }, { "w_read" }, { { "axis", int64_t(1) } });
    m.node("MatMul", { "x", codes ? "w_read" : "w" }, { "m" });
    return m.node("Add", { "m", "b" }, { "y" }).output("y").finish();
}

FixedData normalData(const Shape& shape)
{
    const auto count = std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<>());
    return FixedData({ Tensor::of<float>(shape, normals(int(count), 9)) });
}

} // namespace

class FloatCodesTests : public QObject {
    Q_OBJECT
private slots:
    void ranges_data()
    {
        QTest::addColumn<float>("scale");
        QTest::addColumn<QString>("rule"); // "" = none
        QTest::newRow("as wide as the data") << 5 / kBeyondOne << "";
        QTest::newRow("wider by far, which costs floats nothing") << 200 / kBeyondOne << "";
        QTest::newRow("cut off") << 0.1f / kBeyondOne << "range_too_small";
        QTest::newRow("too small for a code") << 1e6f / kBeyondOne << "range_too_large";
    }
    void ranges()
    {
        QFETCH(float, scale);
        QFETCH(QString, rule);
        const Comparison c = compared(twice(0), twice(scale), normalData({ kElements }));
        const ActivationRow& a = rowOf(c, "a");
        constexpr double kIdeal = 32.53, kNear = 3;
        QVERIFY(close(a.idealSqnrDb, kIdeal, 1e-3));
        QVERIFY(a.localSqnrDb && (*a.localSqnrDb > kIdeal - kNear) == rule.isEmpty());
        QVERIFY(close(a.localSqnrDb, *a.accumulated.sqnrDb));
        const bool cut = rule == "range_too_small";
        QVERIFY(a.clippedFraction && (*a.clippedFraction > 0.5) == cut);
        QCOMPARE(*a.noise.clipping > *a.noise.rounding, cut);
        const Finding* found = findingOf(c, cut ? Rule::RangeTooSmall : Rule::RangeTooLarge);
        QVERIFY2((found != nullptr) == !rule.isEmpty(), qPrintable(rulesOf(c)));
        QVERIFY2(found || c.findings.empty() || c.findings.front().severity == Severity::Note, qPrintable(rulesOf(c)));
        if (!found)
            return;
        QCOMPARE(QString::fromStdString(std::string(ruleId(found->rule))), rule);
        QCOMPARE(found->severity, Severity::Error);
        QCOMPARE(found->change.kind, RemedyKind::SetRange);
        QVERIFY(found->expectedGainDb.value_or(0) > kIdeal - 3 * kNear);
    }

    void proof_data()
    {
        QTest::addColumn<float>("bias");
        QTest::addColumn<bool>("same");
        QTest::newRow("the same") << 0.f << true;
        QTest::newRow("another bias, within what float8 rounds") << 0.2f << false;
    }
    /// Zero points of float8 are no weights: they go with the quantizers, and nothing is left to round.
    void proof()
    {
        QFETCH(float, bias);
        QFETCH(bool, same);
        CompareOptions options;
        options.prove = true;
        const Comparison c = compared(product(false, 0), product(true, bias), normalData({ kSide, kSide }), options);
        QVERIFY(c.network && c.network->step.precision == Precision::Float32);
        QVERIFY(!c.network->otherConstants == same);
        QVERIFY2(
            (findingOf(c, Rule::WeightsDiffer) || findingOf(c, Rule::ModelsDiffer)) != same, qPrintable(rulesOf(c)));
    }
};

QTEST_GUILESS_MAIN(FloatCodesTests)
#include "float_codes_test.moc"
