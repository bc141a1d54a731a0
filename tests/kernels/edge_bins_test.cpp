// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/statistics/edge_bins.h"
#include "core/kernels/statistics/value_range.h"
#include "tests/kernels/random_data.h"
#include "tests/kernels/runners.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <limits>

using namespace qs;

namespace {

constexpr uint32_t kSeed = 314;
constexpr float kInfinity = std::numeric_limits<float>::infinity();
const std::vector<int64_t> kSizes { 0, 1, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 65, 2047, 2048, 2049, 40000 };

std::vector<float> even(float low, float high, size_t bins)
{
    std::vector<float> edges(bins + 1);
    for (size_t i = 0; i <= bins; ++i)
        edges[i] = static_cast<float>(low + (double(high) - low) * double(i) / double(bins));
    return edges;
}

} // namespace

class EdgeBinsTests : public QObject {
    Q_OBJECT
private slots:
    void rangesAsTheReference();
    void magnitudesOnBothSides();
    void countsAsTheReference_data();
    void countsAsTheReference();
    void edgesBelongToTheBinAbove();
};

void EdgeBinsTests::rangesAsTheReference()
{
    test::RandomData random(kSeed);
    for (const int64_t size : kSizes)
        for (const float odd : { 0.0f, 3.0f, -9.0f, kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN(),
                 std::numeric_limits<float>::lowest(), std::numeric_limits<float>::denorm_min() }) {
            auto x = random.floats(size);
            for (size_t i = x.size() / 2; i < x.size(); i += 5)
                x[i] = odd;
            QVERIFY2(valueRange(x) == valueRangeReference(x),
                qPrintable(QString("size %1, odd %2, seed %3").arg(size).arg(double(odd)).arg(kSeed)));
            QCOMPARE(valueRange(x).allFinite(), x.empty() || std::isfinite(odd));
        }
    QVERIFY(valueRange({}).empty() && valueRange({}).magnitude() == 0 && valueRange({}).allFinite());
}

void EdgeBinsTests::magnitudesOnBothSides()
{
    const std::vector<float> x { 1, -4, 16, -20, 0 };
    QCOMPARE(magnitudeGap(x, 16).below, 4.0f);
    QCOMPARE(magnitudeGap(x, 16).above, 16.0f);
    QCOMPARE(magnitudeGap({}, 16).above, kInfinity);
}

void EdgeBinsTests::countsAsTheReference_data()
{
    QTest::addColumn<std::vector<float>>("edges");
    QTest::newRow("signed") << even(-3.1f, 3.1f, 2048);
    QTest::newRow("magnitudes") << even(0, 4.7f, 2048);
    QTest::newRow("from above zero") << even(0.013f, 4.7f, 777);
    QTest::newRow("few") << even(-1, 1, 2);
    QTest::newRow("one") << even(-1, 2, 1);
    QTest::newRow("far from zero") << even(1000, 1001, 2048);
    QTest::newRow("many") << even(-4, 4, 300000);
    QTest::newRow("huge") << even(-3e38f, 3e38f, 128);
    QTest::newRow("tiny") << even(-1e-38f, 1e-38f, 512);
    QTest::newRow("uneven") << std::vector<float> { -2, -1.9f, -1, 0, 0.25f, 0.5f, 3 };
    QTest::newRow("equal edges") << std::vector<float> { -2, 0, 0, 0.5f, 0.5f, 3, 3 };
}

/// Values all over and outside, and each edge with its neighbours.
void EdgeBinsTests::countsAsTheReference()
{
    QFETCH(std::vector<float>, edges);
    test::RandomData random(kSeed);
    std::vector<float> pool { 0.0f, -0.0f, kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN() };
    for (size_t i = 0; i < edges.size(); i += std::max<size_t>(edges.size() / 3000, 1))
        for (const float v : { edges[i], std::nextafter(edges[i], kInfinity), std::nextafter(edges[i], -kInfinity) }) {
            pool.push_back(v);
            pool.push_back(-v);
        }
    const float middle = edges[edges.size() / 2], reach = edges.back() / 2 - edges.front() / 2;
    std::vector<uint32_t> scratch;
    for (const bool magnitudes : { false, true }) {
        const EdgeBins bins(edges, magnitudes);
        for (const int64_t size : kSizes) {
            std::vector<float> x = random.floats(size);
            for (float& v : x)
                v = random.integer(0, 2) ? middle + v * reach
                                         : pool[size_t(random.integer(0, int64_t(pool.size()) - 1))];
            std::vector<uint64_t> fast(bins.bins(), 1), naive(bins.bins(), 1);
            bins.count(x, fast, scratch);
            bins.countReference(x, naive);
            QVERIFY2(fast == naive, qPrintable(QString("size %1, seed %2").arg(size).arg(kSeed)));
        }
        std::vector<uint64_t> fast(bins.bins()), naive(bins.bins());
        bins.count(pool, fast, scratch);
        bins.countReference(pool, naive);
        QCOMPARE(fast, naive);
    }
}

void EdgeBinsTests::edgesBelongToTheBinAbove()
{
    const std::vector<float> edges { 0, 1, 2, 4 };
    const EdgeBins bins(edges, false);
    QCOMPARE(bins.binOf(0), size_t(0));
    QCOMPARE(bins.binOf(1), size_t(1));
    QCOMPARE(bins.binOf(3.9f), size_t(2));
    QCOMPARE(bins.binOf(4), size_t(2));
    QCOMPARE(bins.binOf(-0.1f), size_t(3));
    QCOMPARE(bins.binOf(4.1f), size_t(3));
}

int runEdgeBinsTests(int argc, char** argv)
{
    EdgeBinsTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "edge_bins_test.moc"
