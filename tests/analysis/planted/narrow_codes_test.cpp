// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/analysis/comparing.h"
#include "tests/analysis/products.h"

#include <cmath>

using namespace qs;
using namespace qs::test;

namespace {

constexpr int64_t kCount = 512;

FixedData dataOf(const Shape& shape, size_t count)
{
    return FixedData({ Tensor::of<float>(shape, uniform(count, 3)) });
}

/// x -> Neg -> a -> Neg -> y; the codes of `a` pass a Clip, where the other file has one.
Prepared cut(bool codes, float scale = 1, int low = 0, int high = 0, bool second = false)
{
    SmallModel m(codes ? "q" : "f");
    m.input("x", { kCount }).node("Neg", { "x" }, { "a" });
    if (!codes)
        return m.node("Neg", { "a" }, { "y" }).output("y").finish();
    m.constant("s", Tensor::scalar(scale)).constant("z", Tensor::scalar<int8_t>(0));
    m.constant("low", Tensor::scalar<int8_t>(int8_t(low))).constant("high", Tensor::scalar<int8_t>(int8_t(high)));
    m.node("QuantizeLinear", { "a", "s", "z" }, { "a_q" }).node("Clip", { "a_q", "low", "high" }, { "a_c" });
    m.node("DequantizeLinear", { "a_c", "s", "z" }, { "a_dq" }).node("Neg", { "a_dq" }, { "y" }).output("y");
    if (second) // reads what the Clip cuts off elsewhere
        m.node("DequantizeLinear", { "a_q", "s", "z" }, { "b_dq" }).node("Abs", { "b_dq" }, { "b" }).output("b");
    return m.finish();
}

/// A product whose weight has 4 bits, which a Clip says of its codes.
Prepared fewBits(bool codes)
{
    constexpr int64_t kSize = 16;
    const std::vector<float> weights = uniform(kSize * kSize, 5);
    SmallModel m(codes ? "q" : "f");
    m.input("x", { kSize, kSize });
    if (!codes)
        return m.constant("w", Tensor::of<float>({ kSize, kSize }, weights))
            .node("MatMul", { "x", "w" }, { "y" })
            .output("y")
            .finish();
    constexpr float kScale = 1.f / 7;
    std::vector<int8_t> stored;
    for (const float w : weights)
        stored.push_back(int8_t(std::lround(w / kScale)));
    m.constant("ws", Tensor::scalar(kScale)).constant("wz", Tensor::scalar<int8_t>(0));
    m.constant("low", Tensor::scalar<int8_t>(-7)).constant("high", Tensor::scalar<int8_t>(7));
    m.constant("w_q", Tensor::of<int8_t>({ kSize, kSize }, stored)).node("Clip", { "w_q", "low", "high" }, { "w_c" });
    m.node("DequantizeLinear", { "w_c", "ws", "wz" }, { "w" });
    m.qdq<int8_t>("x", "x_dq", 1.f / 127, 0).node("MatMul", { "x_dq", "w" }, { "y" });
    return m.output("y").finish();
}

} // namespace

/// A Clip between quantizing and dequantizing leaves fewer codes than their type has.
class NarrowCodesTests : public QObject {
    Q_OBJECT

private slots:
    void ranges_data()
    {
        QTest::addColumn<float>("scale");
        QTest::addColumn<int>("low");
        QTest::addColumn<int>("high");
        QTest::addColumn<bool>("second");
        QTest::addColumn<double>("highest"); ///< of the range, in steps
        QTest::addColumn<bool>("clipped");
        QTest::newRow("few bits that fit") << 1.f / 7 << -8 << 7 << false << 7.0 << false;
        QTest::newRow("few bits, too narrow") << 1.f / 16 << -8 << 7 << false << 7.0 << true;
        QTest::newRow("one end") << 1.f / 127 << -128 << 60 << false << 60.0 << true;
        QTest::newRow("nothing cut") << 1.f / 127 << -128 << 127 << false << 127.0 << false;
        QTest::newRow("another reader sees all") << 1.f / 127 << -128 << 60 << true << 127.0 << false;
    }
    void ranges()
    {
        QFETCH(float, scale);
        QFETCH(int, low);
        QFETCH(int, high);
        QFETCH(bool, second);
        const Comparison c = compared(cut(false), cut(true, scale, low, high, second), dataOf({ kCount }, kCount));
        const ActivationRow& row = rowOf(c, "a");
        QTEST(std::round(row.range->second / double(scale)), "highest");
        if (second)
            return; // what else is wrong there is not about the range
        QTEST(row.clippedFraction.value_or(0) > 0.1, "clipped");
        QTEST(findingOf(c, Rule::RangeTooSmall) != nullptr, "clipped");
        QVERIFY2(!findingOf(c, Rule::RangeTooLarge) && !findingOf(c, Rule::WrongZeroPoint), qPrintable(rulesOf(c)));
    }

    void weights()
    {
        const Comparison c = compared(fewBits(false), fewBits(true), dataOf({ 16, 16 }, 256));
        QCOMPARE(c.weights.size(), size_t(1));
        const WeightRow& row = c.weights[0];
        QCOMPARE(row.params.bits(), size_t(4));
        QVERIFY(row.usedCodes.value_or(0) > 0.9);
        QVERIFY(row.perTensorSqnrDb && std::fabs(*row.perTensorSqnrDb - *row.similarity.sqnrDb) < 1);
        const Finding* found = findingOf(c, Rule::WeightsTooCoarse);
        QVERIFY2(found, qPrintable(rulesOf(c)));
        QVERIFY(found->cause != "scale");
        QVERIFY2(found->summary.find("4 bits of int8") != std::string::npos, qPrintable(rulesOf(c)));
    }

    void clipsAreNamed()
    {
        const Comparison c = compared(cut(false), cut(true, 1.f / 7, -8, 7), dataOf({ kCount }, kCount));
        const Finding* found = findingOf(c, Rule::RuntimeRejects);
        QVERIFY2(found, qPrintable(rulesOf(c)));
        QVERIFY(found->title.starts_with("Clips stand between"));
        QVERIFY(!found->remedy.starts_with("Remove"));
    }
};

QTEST_GUILESS_MAIN(NarrowCodesTests)
#include "narrow_codes_test.moc"
