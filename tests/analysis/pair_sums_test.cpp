// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/pair_sums.h"

#include "tests/analysis/runners.h"

#include <QtTest>

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
    if (a.count != b.count || a.nonFinite != b.nonFinite || a.clipped != b.clipped)
        return QString("counts %1/%2/%3 and %4/%5/%6")
            .arg(a.count)
            .arg(a.nonFinite)
            .arg(a.clipped)
            .arg(b.count)
            .arg(b.nonFinite)
            .arg(b.clipped);
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

} // namespace

class PairSumsTests : public QObject {
    Q_OBJECT
private slots:
    void fastIsReference_data();
    void fastIsReference();
    void partsAddUp();
    void mergeIsOneRun();
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
    for (size_t n : { 0, 1, 2, 3, 4, 7, 8, 15, 16, 17, 31, 100, 1001 }) {
        std::vector<float> x(n), y(n), p(n);
        for (size_t i = 0; i < n; ++i) {
            // Multiples of an eighth hit the ties of the quarter steps and the borders of the range.
            x[i] = std::nearbyint(normal(random) * 8) / 8;
            p[i] = x[i] + std::nearbyint(normal(random)) / 8;
            y[i] = std::nearbyint(p[i] * 4) / 4;
            if (odd && i % 5 == 2) {
                x[i] = odds[random() % 8];
                y[i] = random() % 2 ? odds[random() % 8] : y[i];
                p[i] = random() % 2 ? odds[random() % 8] : p[i];
            }
        }
        PairSums fast, reference;
        const PairQuantizer* q = hasQuantizer ? &quantizer : nullptr;
        PairExtremes fastExtremes, extremes;
        const PairRun run { x.data(), y.data(), hasP ? p.data() : nullptr, n, q, activation };
        addPairSums(fast, fastExtremes, run);
        addPairSumsReference(reference, extremes, run);
        const QString text = difference(fast, reference);
        QVERIFY2(text.isEmpty(), qPrintable(QString("seed %1, %2 elements: %3").arg(seed).arg(n).arg(text)));
        QCOMPARE(fast.count + fast.nonFinite, uint64_t(n));
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

int qs::test::runPairSumsTests(int argc, char** argv)
{
    PairSumsTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "pair_sums_test.moc"
