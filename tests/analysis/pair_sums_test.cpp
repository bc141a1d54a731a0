// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/statistics/pair_sums.h"

#include "core/analysis/measure/pair_meter.h"
#include "tests/analysis/runners.h"

#include <QtTest>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

using namespace qs;

namespace {

bool near(double a, double b, double scale)
{
    return a == b || std::fabs(a - b) <= 1e-11 * std::max({ std::fabs(a), std::fabs(b), scale });
}

/// Empty when equal, else the field that differs.
QString difference(const PairSums& a, const PairSums& b)
{
    const std::pair<const char*, uint64_t PairSums::*> counts[] = { { "count", &PairSums::count },
        { "nonFinite", &PairSums::nonFinite }, { "clipped", &PairSums::clipped }, { "clippedX", &PairSums::clippedX } };
    for (const auto& [name, field] : counts)
        if (a.*field != b.*field)
            return QString("%1: %2 and %3").arg(name).arg(a.*field).arg(b.*field);
    if (a.maxError != b.maxError || a.lowX != b.lowX || a.highX != b.highX || a.lowA != b.lowA || a.highA != b.highA)
        return "extremes";
    const std::pair<const char*, double PairSums::*> sums[] = { { "xx", &PairSums::xx }, { "yy", &PairSums::yy },
        { "xy", &PairSums::xy }, { "ee", &PairSums::ee }, { "e", &PairSums::e }, { "localEe", &PairSums::localEe },
        { "pp", &PairSums::pp }, { "qdqEe", &PairSums::qdqEe }, { "rounding", &PairSums::rounding },
        { "clipping", &PairSums::clipping }, { "inherited", &PairSums::inherited } };
    const double scale = a.xx + a.yy + a.pp;
    for (const auto& [name, field] : sums)
        if (!near(a.*field, b.*field, scale))
            return QString("%1: %2 and %3").arg(name).arg(a.*field, 0, 'g', 17).arg(b.*field, 0, 'g', 17);
    return {};
}

bool sameValues(const std::vector<float>& a, const std::vector<float>& b)
{
    return std::ranges::equal(a, b, [](float v, float w) { return v == w || (std::isnan(v) && std::isnan(w)); });
}

/// Plain counts of everything, one value at a time.
PairHistograms naiveHistograms(const PairRun& run)
{
    PairHistograms h;
    for (size_t i = 0; i < run.n; ++i) {
        h.x.add(run.x[i]);
        h.y.add(run.y[i]);
        h.error.add(run.y[i] - run.x[i]);
        if (run.p)
            h.before.add(std::clamp(run.p[i], run.activation.low, run.activation.high));
    }
    return h;
}

QString difference(const PairHistograms& a, const PairHistograms& b)
{
    return QString(a.x == b.x ? "" : "x ") + (a.y == b.y ? "" : "y ") + (a.error == b.error ? "" : "error ")
        + (a.before == b.before ? "" : "before");
}

} // namespace

class PairSumsTests : public QObject {
    Q_OBJECT
private slots:
    void fastIsReference_data();
    void fastIsReference();
    void partsAddUp();
    void mergeIsOneRun();
    void metersCountEverything_data();
    void metersCountEverything();
    void metersKnowChannels();
};

void PairSumsTests::fastIsReference_data()
{
    QTest::addColumn<bool>("hasP");
    QTest::addColumn<bool>("hasQuantizer");
    QTest::addColumn<bool>("hasActivation");
    QTest::addColumn<bool>("odd");
    for (int i = 0; i < 16; ++i)
        QTest::addRow("%d", i) << bool(i & 1) << bool(i & 2) << bool(i & 4) << bool(i & 8);
}

void PairSumsTests::fastIsReference()
{
    QFETCH(bool, hasP);
    QFETCH(bool, hasQuantizer);
    QFETCH(bool, hasActivation);
    QFETCH(bool, odd);
    const uint32_t seed = 20;
    std::mt19937 random(seed);
    std::normal_distribution<float> normal(0, 3);
    const float inf = std::numeric_limits<float>::infinity(), nan = std::nanf("");
    const float odds[] = { inf, -inf, nan, 0, -0.f, 1e30f, -1e30f, 1e-40f };
    const PairQuantizer quantizer { 0.25f, -3, -8, 7 };
    PairActivation activation;
    if (hasActivation)
        activation = { 0, 2 };
    for (size_t n : { 0, 1, 2, 3, 4, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 1001, 4095, 4096, 4097, 9001 }) {
        std::vector<float> x(n), y(n), p(n);
        for (size_t i = 0; i < n; ++i) {
            // Multiples of an eighth hit the ties of the quarter steps and the borders of the range.
            x[i] = std::nearbyint(normal(random) * 8) / 8;
            p[i] = x[i] + std::nearbyint(normal(random)) / 8;
            y[i] = std::nearbyint(p[i] * 4) / 4;
            if (odd && (i % 5 == 2 || i > 4200) && i % 4500 < 4400) {
                x[i] = odds[random() % 8];
                y[i] = random() % 2 ? odds[random() % 8] : y[i];
                p[i] = random() % 2 ? odds[random() % 8] : p[i];
            }
        }
        PairSums fast, reference;
        const PairQuantizer* q = hasQuantizer ? &quantizer : nullptr;
        PairExtremes fastExtremes, extremes;
        std::vector<float> fastError(n), error(n);
        PairRun run { x.data(), y.data(), hasP ? p.data() : nullptr, n, q, activation, fastError.data() };
        addPairSums(fast, fastExtremes, run);
        run.error = error.data();
        addPairSumsReference(reference, extremes, run);
        QString text = difference(fast, reference);
        if (fastExtremes.lowY != extremes.lowY || fastExtremes.highY != extremes.highY
            || fastExtremes.lowError != extremes.lowError || fastExtremes.highError != extremes.highError)
            text += " extremes of y or the error";
        if (!sameValues(fastError, error))
            text += " errors";
        QVERIFY2(text.isEmpty(), qPrintable(QString("seed %1, %2 elements: %3").arg(seed).arg(n).arg(text)));
        QCOMPARE(fast.count + fast.nonFinite, uint64_t(n));
        PairSums alone;
        addPairSums(alone, x.data(), y.data(), hasP ? p.data() : nullptr, n, q, activation);
        QVERIFY2(difference(alone, fast).isEmpty(), qPrintable("without errors: " + difference(alone, fast)));
    }
}

void PairSumsTests::partsAddUp()
{
    const uint32_t seed = 21;
    std::mt19937 random(seed);
    std::normal_distribution<float> normal(0, 3);
    std::vector<float> x(999), y(999), p(999);
    for (size_t i = 0; i < x.size(); ++i) {
        x[i] = normal(random);
        p[i] = x[i] + 0.3f * normal(random);
        y[i] = 0.1f * std::clamp(std::nearbyint(p[i] / 0.1f), 0.f, 40.f);
    }
    PairSums sums;
    const PairQuantizer quantizer { 0.1f, 0, 0, 40 };
    addPairSums(
        sums, x.data(), y.data(), p.data(), x.size(), &quantizer, { 0, std::numeric_limits<float>::infinity() });
    QVERIFY(sums.clipped > 0);
    QVERIFY(sums.clipping != 0 && sums.inherited != 0 && sums.rounding != 0);
    QVERIFY(std::fabs(sums.rounding + sums.clipping + sums.inherited - sums.ee) < 1e-9 * sums.ee);
}

void PairSumsTests::mergeIsOneRun()
{
    const std::vector<float> x { 1, -2, 3, 0.5f }, y { 1.5f, -2, 2, std::nanf("") };
    PairSums whole, first, second;
    PairExtremes extremes;
    addPairSumsReference(whole, extremes, { x.data(), y.data(), nullptr, 4, nullptr, {} });
    addPairSumsReference(first, extremes, { x.data(), y.data(), nullptr, 1, nullptr, {} });
    addPairSumsReference(second, extremes, { x.data() + 1, y.data() + 1, nullptr, 3, nullptr, {} });
    first.merge(second);
    QVERIFY2(difference(whole, first).isEmpty(), qPrintable(difference(whole, first)));
    QCOMPARE(whole.nonFinite, uint64_t(1));
    QCOMPARE(whole.xx, 14.0);
    QCOMPARE(whole.ee, 1.25);
    QCOMPARE(whole.e, -0.5);
    QCOMPARE(whole.maxError, 1.0);
}

void PairSumsTests::metersCountEverything_data()
{
    QTest::addColumn<bool>("hasP");
    QTest::addColumn<bool>("hasActivation");
    QTest::addColumn<bool>("odd");
    for (int i = 0; i < 8; ++i)
        QTest::addRow("%d", i) << bool(i & 1) << bool(i & 2) << bool(i & 4);
}

void PairSumsTests::metersCountEverything()
{
    QFETCH(bool, hasP);
    QFETCH(bool, hasActivation);
    QFETCH(bool, odd);
    const uint32_t seed = 22;
    std::mt19937 random(seed);
    std::normal_distribution<float> normal(0, 3);
    const float huge = std::numeric_limits<float>::max(), odds[] = { std::nanf(""), INFINITY, -INFINITY, huge, -huge };
    const PairQuantizer quantizer { 0.5f, 0, -8, 7 };
    std::vector<float> scratch;
    for (size_t n : { 1, 17, 1000, 33000, 70001 }) {
        std::vector<float> x(n), y(n), p(n);
        for (size_t i = 0; i < n; ++i) {
            const float grows = 1 + float(i) / 20000; // so that later blocks widen the bins
            x[i] = i % 7 == 0 ? -0.0f : normal(random) * grows;
            p[i] = x[i] + 0.1f * normal(random);
            y[i] = std::nearbyint(p[i] * 2) / 2;
            if (odd && (i == 3 || i == 40000)) {
                x[i] = odds[random() % 5];
                y[i] = odds[random() % 5];
            }
        }
        PairRun run { x.data(), y.data(), hasP ? p.data() : nullptr, n, &quantizer, {} };
        if (hasActivation)
            run.activation = { 0, 6 };
        PairSums sums, reference;
        PairExtremes unused;
        PairHistograms histograms;
        PairMeter(sums, &histograms, {}, scratch).addRun(run);
        addPairSumsReference(reference, unused, run);
        const QString text = difference(sums, reference) + difference(histograms, naiveHistograms(run));
        QVERIFY2(text.isEmpty(), qPrintable(QString("seed %1, %2 elements: %3").arg(seed).arg(n).arg(text)));
        PairSums without;
        PairMeter(without, nullptr, {}, scratch).addRun(run);
        QVERIFY2(difference(without, reference).isEmpty(), "without histograms");
    }
}

void PairSumsTests::metersKnowChannels()
{
    const size_t channels = 3, inner = 5, n = 2 * channels * inner;
    std::vector<float> x(n), y(n), scratch;
    for (size_t i = 0; i < n; ++i) {
        x[i] = float(i) * 0.3f - 4;
        y[i] = std::round(x[i]);
    }
    QuantParams params;
    params.dtype = DType::Int8;
    params.scale = { 0.5f, 1, 0.01f };
    params.zeroPoint = { 0, 1, 2 };
    const PairQuantizer any;
    PairSums sums, expected;
    PairExtremes unused;
    PairHistograms histograms;
    const size_t offset = inner; // begins with the second channel
    PairRun run { x.data(), y.data(), nullptr, n, &any, {} };
    PairMeter(sums, &histograms, {}, scratch).addChannels(run, params, offset, channels, inner);
    for (size_t i = 0; i < n; ++i) {
        const PairQuantizer q = quantizerOf(params, (offset + i) / inner % channels);
        addPairSumsReference(expected, unused, { &x[i], &y[i], nullptr, 1, &q, {} });
    }
    QVERIFY2(difference(sums, expected).isEmpty(), qPrintable(difference(sums, expected)));
    QVERIFY(expected.clipped > 0 && expected.localEe > 0);
    const QString text = difference(histograms, naiveHistograms(run));
    QVERIFY2(text.isEmpty(), qPrintable(text));
}

int qs::test::runPairSumsTests(int argc, char** argv)
{
    PairSumsTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "pair_sums_test.moc"
