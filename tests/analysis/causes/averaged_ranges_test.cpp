// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/analysis/comparing.h"
#include "tests/analysis/products.h"

#include <cmath>

/// What is seen only of several samples: ranges that are means over them, values that few of them have, and constants
/// that cost on some of them alone.
namespace {

using namespace qs;
using namespace qs::test;

constexpr int64_t kWidth = 64;
constexpr size_t kSamples = 8;

struct Ends {
    float low = 0, high = 0;
};

/// Each sample reaches further than the one before.
std::vector<std::vector<float>> growing()
{
    std::vector<std::vector<float>> all;
    for (size_t s = 0; s < kSamples; ++s) {
        const float most = 0.4f + 0.2f * float(s);
        all.push_back(uniform(size_t(kWidth), 3 + uint32_t(s), -0.7f * most, most));
    }
    return all;
}

Ends endsOf(const std::vector<std::vector<float>>& all, const QString& how)
{
    Ends most, mean;
    float peak = 0;
    for (const std::vector<float>& one : all) {
        const float low = std::ranges::min(one), high = std::ranges::max(one);
        most = { std::min(most.low, low), std::max(most.high, high) };
        mean = { mean.low + low / float(all.size()), mean.high + high / float(all.size()) };
        peak += std::max(-low, high) / float(all.size());
    }
    if (how == "averaged")
        return mean;
    if (how == "averaged, symmetric")
        return { -peak, peak };
    return { most.low / 3, most.high / 3 };
}

/// x -> Mul -> a -> Mul -> b -> Neg -> y, each but the last with a quantizer of these ends.
Prepared chain(bool codes, const Ends& ends)
{
    SmallModel m(codes ? "q" : "f");
    m.input("x", { 1, kWidth }).constant("half", Tensor::scalar(0.5f));
    float factor = 1;
    const auto read = [&](const std::string& name) {
        if (!codes)
            return name;
        const float scale = factor * (ends.high - ends.low) / 255;
        m.qdq<uint8_t>(name, name + "_dq", scale, uint8_t(std::lround(-factor * ends.low / scale)));
        factor /= 2;
        return name + "_dq";
    };
    m.node("Mul", { read("x"), "half" }, { "a" });
    m.node("Mul", { read("a"), "half" }, { "b" });
    return m.node("Neg", { read("b") }, { "y" }).output("y").finish();
}

FixedData dataOf(const std::vector<std::vector<float>>& all)
{
    std::vector<Tensor> samples;
    for (const std::vector<float>& one : all)
        samples.push_back(Tensor::of<float>({ 1, int64_t(one.size()) }, one));
    return FixedData(samples);
}

/// x -> Neg -> a -> Neg -> y, or a joined with another value that has its scale and zero point.
Prepared oneRange(bool codes, bool joined)
{
    constexpr float kLow = -0.63f, kHigh = 0.71f, kScale = (kHigh - kLow) / 255;
    const auto zero = uint8_t(std::lround(-kLow / kScale));
    SmallModel m(codes ? "q" : "f");
    m.input("x", { 1, kWidth }).node("Neg", { "x" }, { "a" });
    if (codes)
        m.qdq<uint8_t>("a", "a_dq", kScale, zero);
    if (!joined)
        return m.node("Neg", { codes ? "a_dq" : "a" }, { "y" }).output("y").finish();
    m.constant("part", Tensor::scalar(0.69f)).node("Mul", { "x", "part" }, { "b" });
    if (codes)
        m.qdq<uint8_t>("b", "b_dq", kScale, zero);
    m.node("Concat", { codes ? "a_dq" : "a", codes ? "b_dq" : "b" }, { "j" }, { { "axis", int64_t(1) } });
    return m.node("Neg", { "j" }, { "y" }).output("y").finish();
}

/// x -> Gemm -> y with a bias in floats, which is off in the quantized file.
Prepared corrected(bool codes)
{
    constexpr int64_t kIn = 8;
    SmallModel m(codes ? "q" : "f");
    const std::vector<float> w = uniform(size_t(kIn * kIn), 5);
    std::vector<float> b = uniform(size_t(kIn), 7, -0.05f, 0.05f);
    m.input("x", { 1, kIn });
    if (codes) {
        for (float& v : b)
            v += 0.02f;
        m.qdq<int8_t>("x", "x_dq", 1.f / 127, 0)
            .weight("w", { kIn, kIn }, symmetricCodes(w, { 1.f / 127 }), { 1.f / 127 });
    } else {
        m.constant("w", Tensor::of<float>({ kIn, kIn }, w));
    }
    m.constant("b", Tensor::of<float>({ kIn }, b));
    return m.node("Gemm", { codes ? "x_dq" : "x", "w", "b" }, { "y" }).output("y").finish();
}

} // namespace

class AveragedRangeTests : public QObject {
    Q_OBJECT
private slots:
    void averagedRanges_data()
    {
        QTest::addColumn<bool>("averaged");
        QTest::newRow("averaged") << true;
        QTest::newRow("averaged, symmetric") << true;
        QTest::newRow("a third") << false;
    }
    /// Ranges that are means over samples say nothing of other data.
    void averagedRanges()
    {
        QFETCH(const bool, averaged);
        const auto all = growing();
        const Ends ends = endsOf(all, QTest::currentDataTag());
        const Comparison c = compared(chain(false, ends), chain(true, ends), dataOf(all));
        QVERIFY2((findingOf(c, Rule::InputMismatch) == nullptr) == averaged, qPrintable(rulesOf(c)));
        const Finding* f = findingOf(c, Rule::RangeTooSmall);
        QVERIFY2(f, qPrintable(rulesOf(c)));
        QCOMPARE(f->cause == "averaged", averaged);
        QCOMPARE(f->summary.find("means over samples") != std::string::npos, averaged);
        QCOMPARE(c.inputs[0].otherScale, !averaged);
        if (!averaged)
            return;
        QCOMPARE(int(placesOf(*f).size()), 3);
        QCOMPARE(f->change.kind, RemedyKind::Recalibrate);
    }

    void shifts_data()
    {
        QTest::addColumn<size_t>("reaching"); // samples with a value beyond the range
        QTest::addColumn<bool>("joined");
        QTest::addColumn<bool>("shifted");
        QTest::newRow("every sample is cut") << kSamples << false << true;
        QTest::newRow("one sample is cut") << size_t(1) << false << false;
        QTest::newRow("the other end is another tensor's") << kSamples << true << false;
    }
    /// A zero point is called shifted where typical samples are cut, and nothing else needs the end that is not used.
    void shifts()
    {
        QFETCH(const size_t, reaching);
        QFETCH(const bool, joined);
        QFETCH(const bool, shifted);
        std::vector<std::vector<float>> all;
        for (size_t s = 0; s < kSamples; ++s) {
            all.push_back(uniform(size_t(kWidth), 3 + uint32_t(s), -0.25f, 0.4f));
            if (s < reaching)
                all.back()[5] = 1.02f;
        }
        const Comparison c = compared(oneRange(false, joined), oneRange(true, joined), dataOf(all));
        const Finding* shift = findingOf(c, Rule::WrongZeroPoint);
        QVERIFY2((shift != nullptr) == shifted, qPrintable(rulesOf(c)));
        const Finding* small = findingOf(c, Rule::RangeTooSmall);
        QVERIFY2((small != nullptr) == !shifted, qPrintable(rulesOf(c)));
        if (small)
            QCOMPARE(small->summary.find("one scale and zero point with n_b") != std::string::npos, joined);
    }

    void corrections_data()
    {
        QTest::addColumn<float>("largest"); // of the second sample; the range ends at 1
        QTest::addColumn<bool>("harmful");
        QTest::newRow("most of the error") << 0.9f << true;
        QTest::newRow("nothing beside what is clipped") << 3.f << false;
    }
    /// Constants are judged by what they cost on all samples of the proof, not on the one that shows them most.
    void corrections()
    {
        QFETCH(const float, largest);
        QFETCH(const bool, harmful);
        CompareOptions options;
        options.prove = true;
        const auto data = dataOf({ uniform(8, 3, -0.05f, 0.05f), uniform(8, 4, -largest, largest) });
        const Comparison c = compared(corrected(false), corrected(true), data, options);
        const Finding* f = findingOf(c, Rule::WeightsDiffer);
        QVERIFY2(f && f->cause == "constants", qPrintable(rulesOf(c)));
        QVERIFY2((f->severity != Severity::Note) == harmful, qPrintable(rulesOf(c)));
    }
};

QTEST_GUILESS_MAIN(AveragedRangeTests)
#include "averaged_ranges_test.moc"
