// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/statistics/bins.h"
#include "tests/kernels/random_data.h"
#include "tests/kernels/runners.h"

#include <QTest>

#include <algorithm>
#include <limits>

using namespace qs;

namespace {

constexpr uint32_t kSeed = 99;
constexpr float kInfinity = std::numeric_limits<float>::infinity();
const std::vector<int64_t> kSizes { 0, 1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 1023, 1024, 1025, 20000 };

} // namespace

class BinsTests : public QObject {
    Q_OBJECT
private slots:
    void extremes();
    void countsAsTheReference_data();
    void countsAsTheReference();
    void countsAndMarksCodes();
};

void BinsTests::extremes()
{
    test::RandomData random(kSeed);
    for (const int64_t size : kSizes)
        for (const float odd : { 0.0f, -0.0f, kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN(),
                 std::numeric_limits<float>::max(), std::numeric_limits<float>::denorm_min() }) {
            auto x = random.floats(size);
            for (size_t i = 0; i < x.size(); i += 3)
                x[i] = odd;
            const FloatExtremes fast = floatExtremes(x), naive = floatExtremesReference(x);
            QVERIFY2(fast.low == naive.low && fast.high == naive.high && fast.nonFinite == naive.nonFinite,
                qPrintable(QString("size %1, odd %2, seed %3").arg(size).arg(double(odd)).arg(kSeed)));
        }
}

void BinsTests::countsAsTheReference_data()
{
    QTest::addColumn<int>("exponent");
    for (int exponent : { -149, -140, -127, -126, -30, -9, 0, 3, 90, 104, 125, 126, 127 })
        QTest::addRow("width 2^%d", exponent) << exponent;
}

void BinsTests::countsAsTheReference()
{
    QFETCH(int, exponent);
    constexpr int32_t kBins = 100;
    test::RandomData random(kSeed);
    const int32_t highest = exponent > 120 ? 1 : (1 << 24) - kBins; // in bins; larger ones are no floats
    for (const int32_t first : { -50, 0, -kBins, -(1 << 23), (1 << 23) - 1, 1 << 23, (1 << 23) + 1,
             exponent > 120 ? -1 : -(1 << 24) + kBins, highest - 50 })
        for (const int64_t size : kSizes) {
            const int32_t low = exponent > 120 ? std::max(first, -1) : first;
            const int32_t high = exponent > 120 ? std::min(first + kBins - 1, 0) : first + kBins - 1;
            if (low > high)
                continue;
            std::vector<float> x;
            for (int64_t i = 0; i < size; ++i) {
                const auto bin = double(random.integer(low, high));
                const double inside = i % 3 == 0 ? 0 : double(random.integer(0, 255)) / 256;
                auto v = static_cast<float>(std::ldexp(bin + inside, exponent));
                if (std::floor(std::ldexp(double(v), -exponent)) != bin) // rounded into the next one
                    v = static_cast<float>(std::ldexp(bin, exponent));
                x.push_back(v);
            }
            if (low <= -1 && high >= -1 && x.size() > 8) { // tiny values on both sides of zero
                x[0] = -std::numeric_limits<float>::denorm_min();
                x[1] = -0.0f;
                x[2] = high >= 0 ? std::numeric_limits<float>::denorm_min() : x[2];
                x[1] = high >= 0 ? x[1] : x[0];
            }
            std::vector<uint64_t> fast(kBins, 7), naive(kBins, 7);
            countBins(x, exponent, first, fast);
            countBinsReference(x, exponent, first, naive);
            QVERIFY2(fast == naive, qPrintable(QString("first %1, size %2, seed %3").arg(first).arg(size).arg(kSeed)));
            std::vector<uint32_t> narrow(kBins, 7);
            countBins(x, exponent, first, narrow);
            QVERIFY(std::ranges::equal(narrow, naive));
            std::vector<uint16_t> narrowest(kBins, 7);
            if (x.size() <= 65535 - 7) {
                countBins(x, exponent, first, narrowest);
                QVERIFY(std::ranges::equal(narrowest, naive));
            }
        }
}

void BinsTests::countsAndMarksCodes()
{
    test::RandomData random(kSeed);
    for (const int64_t size : kSizes)
        for (const int64_t most : { 0, 1, 127, 128, 255 }) {
            std::vector<uint8_t> codes;
            for (int64_t i = 0; i < size; ++i)
                codes.push_back(uint8_t(i > size / 2 ? 255 - random.integer(0, most) : random.integer(0, most)));
            std::vector<uint64_t> counts(256, 3), naive(256, 3);
            std::bitset<256> seen, expected;
            seen.set(77); // earlier ones stay
            expected.set(77);
            for (const uint8_t code : codes) {
                ++naive[code];
                expected.set(code);
            }
            countCodes(codes, std::span<uint64_t, 256>(counts));
            markCodes(codes, seen);
            const QString text = QString("size %1, most %2, seed %3").arg(size).arg(most).arg(kSeed);
            QVERIFY2(counts == naive, qPrintable(text));
            QVERIFY2(seen == expected, qPrintable(text));
        }
}

int runBinsTests(int argc, char** argv)
{
    BinsTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "bins_test.moc"
