// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/quantize/quantize.h"
#include "tests/support/helper_call.h"

#include <QTest>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

using namespace qs;

namespace {

constexpr unsigned kSeed = 4711;

struct Parameters {
    std::vector<float> scale;
    std::vector<int32_t> zeroPoint;
    QuantRun run(size_t stride) const { return { scale.data(), zeroPoint.data(), stride }; }
};

template <class T> Parameters parameters(size_t n)
{
    std::mt19937 random(kSeed);
    std::uniform_real_distribution<float> scale(0.004f, 0.2f);
    Parameters p;
    for (size_t i = 0; i < std::max<size_t>(n, 1); ++i) {
        p.scale.push_back(i % 3 == 0 ? 0.5f : scale(random));
        const int32_t low = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max();
        p.zeroPoint.push_back(i % 4 == 0 ? low : i % 4 == 1 ? high : low + int32_t(random() % unsigned(high - low)));
    }
    return p;
}

/// Ties, extremes and what is no number among ordinary values.
std::vector<float> samples(const Parameters& p, size_t n)
{
    std::mt19937 random(kSeed + 1);
    const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
    const float special[] = { nan, inf, -inf, 0.0f, -0.0f, 1e30f, -1e30f, 1e-30f, 3.4e38f };
    std::vector<float> x;
    for (size_t i = 0; i < n; ++i) {
        const float halves = float(int(random() % 1400) - 700) * 0.5f;
        x.push_back(i % 11 == 10 ? special[random() % 9] : halves * p.scale[i % p.scale.size()]);
    }
    return x;
}

template <class T> void compareQuantize(size_t n, size_t stride)
{
    const Parameters p = parameters<T>(n);
    const std::vector<float> x = samples(p, n);
    const std::vector<double> wide(x.begin(), x.end());
    std::vector<double> quotient(n);
    std::vector<int64_t> wanted(n);
    quotients(wide.data(), p.run(stride), QuotientPrecision::Single, quotient.data(), n);
    quantizeReference(
        quotient.data(), p.run(stride), std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), wanted.data(), n);
    std::vector<T> codes(n + 1, T(99));
    quantizeFast(x.data(), p.run(stride), codes.data(), n);
    for (size_t i = 0; i < n; ++i)
        QVERIFY2(codes[i] == wanted[i],
            qPrintable(QString("n %1 x %2: %3, not %4").arg(n).arg(x[i]).arg(codes[i]).arg(wanted[i])));
    QCOMPARE(codes[n], T(99));
}

template <class T> void compareDequantize(size_t n, size_t stride)
{
    std::mt19937 random(kSeed + 2);
    const Parameters p = parameters<int8_t>(n);
    std::vector<T> codes(n);
    for (T& c : codes)
        c = static_cast<T>(random());
    const std::vector<double> wide(codes.begin(), codes.end());
    std::vector<float> wanted(n), x(n + 1, 99.0f);
    dequantizeReference(wide.data(), p.run(stride), wanted.data(), n);
    dequantizeFast(codes.data(), p.run(stride), x.data(), n);
    for (size_t i = 0; i < n; ++i)
        QCOMPARE(x[i], wanted[i]);
    QCOMPARE(x[n], 99.0f);
}

} // namespace

class QuantizeTest : public QObject {
    Q_OBJECT
private slots:
    void fastMatchesReference();
    void dequantizeMatchesReference();
    void tiesGoToEven();
    void halfPrecisionRoundsTheQuotient();
    void rangeTouchesZero();
};

void QuantizeTest::fastMatchesReference()
{
    for (size_t stride : { 0, 1 })
        for (size_t n = 0; n < 70; ++n) {
            QS_HELPER(compareQuantize<uint8_t>(n, stride));
            QS_HELPER(compareQuantize<int8_t>(n, stride));
            QS_HELPER(compareQuantize<uint16_t>(n, stride));
            QS_HELPER(compareQuantize<int16_t>(n, stride));
        }
}

void QuantizeTest::dequantizeMatchesReference()
{
    for (size_t stride : { 0, 1 })
        for (size_t n = 0; n < 40; ++n) {
            QS_HELPER(compareDequantize<uint8_t>(n, stride));
            QS_HELPER(compareDequantize<int8_t>(n, stride));
            QS_HELPER(compareDequantize<uint16_t>(n, stride));
            QS_HELPER(compareDequantize<int16_t>(n, stride));
            QS_HELPER(compareDequantize<int32_t>(n, stride));
        }
}

void QuantizeTest::tiesGoToEven()
{
    // The zero point is added after rounding: an odd one does not turn the ties.
    const std::vector<float> x { 0.5f, 1.5f, 2.5f, -0.5f, -1.5f, 300.0f, -300.0f, NAN };
    const float scale = 1;
    const int32_t zeroPoint = 3;
    std::vector<uint8_t> codes(x.size());
    quantizeFast(x.data(), { &scale, &zeroPoint, 0 }, codes.data(), x.size());
    QCOMPARE(codes, (std::vector<uint8_t> { 3, 5, 5, 3, 1, 255, 0, 0 }));
}

void QuantizeTest::halfPrecisionRoundsTheQuotient()
{
    // 1000.5 is a float16 value, 1000.5 / 0.3333 is not: its float16 neighbours are two apart.
    const double x = 1000.5;
    const float scale = 0.33325195f;
    const int32_t zeroPoint = 0;
    double single = 0, half = 0;
    quotients(&x, { &scale, &zeroPoint, 0 }, QuotientPrecision::Single, &single, 1);
    quotients(&x, { &scale, &zeroPoint, 0 }, QuotientPrecision::Half, &half, 1);
    QCOMPARE(half, 2.0 * std::nearbyint(single / 2));
}

void QuantizeTest::rangeTouchesZero()
{
    const std::vector<float> x { 3.0f, NAN, 5.0f };
    const FloatRange r = rangeWithZero(x.data(), x.size());
    QCOMPARE(r.low, 0.0f);
    QCOMPARE(r.high, 5.0f);
}

int runQuantizeTests(int argc, char** argv)
{
    QuantizeTest test;
    return QTest::qExec(&test, argc, argv);
}

#include "quantize_test.moc"
