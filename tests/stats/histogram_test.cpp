// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/stats/histogram.h"

#include <QtTest>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <random>
#include <thread>

using qs::Histogram;

namespace {

std::vector<float> mixedData(std::mt19937& random, size_t count)
{
    std::normal_distribution<float> normal(0.3f, 2.0f);
    std::uniform_int_distribution<int> kind(0, 30);
    std::vector<float> values(count);
    for (float& v : values) {
        v = normal(random);
        switch (kind(random)) {
        case 0:
            v = 0;
            break;
        case 1:
            v = -0.0f;
            break;
        case 2:
            v *= 1e-30f;
            break;
        case 3:
            v *= 40;
            break;
        default:
            break;
        }
    }
    return values;
}

/// Counts by floor(v / width) in double; the truth for the bins that the histogram chose.
std::map<int64_t, uint64_t> naiveCounts(const std::vector<float>& values, double width)
{
    std::map<int64_t, uint64_t> counts;
    for (const float v : values)
        if (std::isfinite(v))
            ++counts[static_cast<int64_t>(std::floor(double(v) / width))];
    return counts;
}

bool agrees(const Histogram& h, const std::vector<float>& values)
{
    auto naive = naiveCounts(values, h.binWidth());
    const auto first = static_cast<int64_t>(h.low() / h.binWidth());
    for (size_t i = 0; i < h.counts().size(); ++i) {
        const auto it = naive.find(first + static_cast<int64_t>(i));
        if (h.counts()[i] != (it == naive.end() ? 0 : it->second))
            return false;
        if (it != naive.end())
            naive.erase(it);
    }
    return naive.empty() && h.counts().size() <= size_t(Histogram::kMaxBins);
}

} // namespace

class HistogramTest : public QObject {
    Q_OBJECT
private slots:
    void empty()
    {
        const Histogram h;
        QVERIFY(h.empty());
        QCOMPARE(h.total(), uint64_t(0));
        QCOMPARE(h.high(), h.low());
    }

    void extremes_data()
    {
        QTest::addColumn<QVector<float>>("values");
        const float big = std::numeric_limits<float>::max();
        const float tiny = std::numeric_limits<float>::denorm_min();
        QTest::newRow("zero") << QVector<float> { 0 };
        QTest::newRow("both zeros") << QVector<float> { -0.0f, 0 };
        QTest::newRow("one") << QVector<float> { 1 };
        QTest::newRow("minus one") << QVector<float> { -1 };
        QTest::newRow("largest") << QVector<float> { big };
        QTest::newRow("both ends") << QVector<float> { big, -big, 0, 1, -tiny };
        QTest::newRow("denormal") << QVector<float> { tiny, -tiny, 3 * tiny };
        QTest::newRow("zero then tiny") << QVector<float> { 0, 1e-30f };
        QTest::newRow("tiny then zero then one") << QVector<float> { 1e-30f, 0, 1, -1e-30f };
        QTest::newRow("powers of two") << QVector<float> { -2, -1, 1, 2, 4, -4 };
        QTest::newRow("far apart") << QVector<float> { 1000.0f, 1000.1f, -7e6f };
    }
    void extremes()
    {
        QFETCH(QVector<float>, values);
        std::vector<float> order(values.begin(), values.end());
        Histogram expected;
        expected.add(order);
        QVERIFY(agrees(expected, order));
        QCOMPARE(expected.total(), uint64_t(order.size()));
        QVERIFY(std::isfinite(expected.low()) && std::isfinite(expected.high()));
        std::sort(order.begin(), order.end());
        do {
            Histogram h;
            for (const float v : order)
                h.add(v);
            QVERIFY(h == expected);
        } while (std::next_permutation(order.begin(), order.end()));
    }

    void manyAtOnce()
    {
        const float inf = std::numeric_limits<float>::infinity();
        Histogram one, many;
        for (const float v : { 3.0f, -0.0f, 1e30f, inf, -2.5f })
            for (const uint64_t times : { 0, 1, 5 }) {
                many.add(v, times);
                for (uint64_t i = 0; i < times; ++i)
                    one.add(v);
            }
        QVERIFY(one == many);
        QCOMPARE(many.total(), uint64_t(24));
        QCOMPARE(many.nonFinite(), uint64_t(6));
    }

    void knownExtremes()
    {
        const std::vector<float> first { 1, 2, -0.5f }, second { 1.5f, 0.25f, 8 };
        Histogram looked, known;
        looked.add(first);
        looked.add(second);
        known.add(first, -0.5f, 2);
        known.add(second, -0.5f, 8); // of both
        QVERIFY(looked == known);
        known.add({}, 5, 5);
        QVERIFY(looked == known);
    }

    void narrowBins()
    {
        Histogram h;
        h.add(std::vector<float> { -1.0f, 1.0f });
        QVERIFY(h.counts().size() > size_t(Histogram::kMaxBins / 2));
        QCOMPARE(h.smallest(), -1.0);
        QCOMPARE(h.largest(), 1.0);
        QVERIFY(h.low() <= -1.0 && h.high() > 1.0);
        h.add(1e-38f);
        QVERIFY(h.counts().size() > size_t(Histogram::kMaxBins / 2));
    }

    void nonFinite()
    {
        const float inf = std::numeric_limits<float>::infinity();
        const float nan = std::numeric_limits<float>::quiet_NaN();
        Histogram h;
        h.add(std::vector<float> { nan, inf, -inf });
        QVERIFY(h.empty());
        QCOMPARE(h.nonFinite(), uint64_t(3));
        h.add(std::vector<float> { 1, -nan, 2 });
        QCOMPARE(h.nonFinite(), uint64_t(4));
        QCOMPARE(h.total(), uint64_t(2));
        std::vector<float> many(20000, 0.5f);
        many[77] = nan;
        h.add(many);
        QCOMPARE(h.nonFinite(), uint64_t(5));
        QCOMPARE(h.total(), uint64_t(20001));
    }

    void anyOrderAndSplit()
    {
        for (unsigned seed = 1; seed <= 40; ++seed) {
            std::mt19937 random(seed);
            std::vector<float> values = mixedData(random, 1 + random() % 30000);
            Histogram whole;
            whole.add(values);
            QVERIFY2(agrees(whole, values), qPrintable(QStringLiteral("seed %1").arg(seed)));
            std::shuffle(values.begin(), values.end(), random);
            std::vector<Histogram> parts(1 + random() % 5);
            for (size_t begin = 0; begin < values.size();) {
                const size_t n = std::min<size_t>(1 + random() % 12000, values.size() - begin);
                parts[random() % parts.size()].add(std::span(values).subspan(begin, n));
                begin += n;
            }
            std::shuffle(parts.begin(), parts.end(), random);
            Histogram merged;
            for (const Histogram& part : parts)
                merged.merge(part);
            QVERIFY2(merged == whole, qPrintable(QStringLiteral("seed %1").arg(seed)));
        }
    }

    void countsOfAnySize()
    {
        Histogram whole;
        std::map<float, uint64_t> expected;
        for (const uint64_t times :
            { uint64_t(1), uint64_t(65534), uint64_t(1) << 16, uint64_t(1) << 32, uint64_t(1) << 40 })
            for (const float value : { 0.5f, -1.0f, 1.0f }) {
                whole.add(value, times);
                expected[value] += times;
                Histogram half;
                half.add(value, expected[value]);
                for (size_t i = 0; i < whole.counts().size(); ++i) {
                    const double left = whole.low() + double(i) * whole.binWidth();
                    if (left <= value && value < left + whole.binWidth())
                        QCOMPARE(whole.counts()[i], expected[value]);
                }
                Histogram merged = half; // narrow into wide and wide into narrow
                merged.merge(whole);
                Histogram other = whole;
                other.merge(half);
                QVERIFY(merged == other);
                QCOMPARE(merged.total(), whole.total() + half.total());
                qs::ByteWriter out;
                whole.write(out);
                qs::ByteReader in(out.bytes());
                QVERIFY(Histogram::read(in) == whole);
                QVERIFY(in.ok());
            }
    }

    void countsThatOverflowAreNone()
    {
        Histogram h;
        h.add(std::vector<float> { 0.5f, 1.0f });
        qs::ByteWriter out;
        h.write(out);
        std::string bytes = out.bytes();
        bytes.replace(bytes.size() - 8, 8, 8, '\xff');
        const size_t first = bytes.size() - 8 * h.counts().size();
        bytes.replace(first, 8, 8, '\xff');
        qs::ByteReader in(bytes);
        QVERIFY(Histogram::read(in).empty());
        QVERIFY(!in.ok());
    }

    void copiesShareTheirCounts()
    {
        std::mt19937 random(3);
        Histogram first;
        first.add(mixedData(random, 1000));
        const Histogram kept = first;
        QVERIFY(kept.counts().sharesWith(first.counts()));
        const std::vector<uint64_t> before = kept.counts().toVector();
        first.add(kept.smallest() < 0 ? -0.25f : 0.25f);
        QVERIFY(!kept.counts().sharesWith(first.counts()));
        QVERIFY(kept.counts().toVector() == before);
        QCOMPARE(first.total(), kept.total() + 1);
        QVERIFY(first.counts().bytes() <= 2 * size_t(Histogram::kMaxBins)); // a thousand values need two bytes a bin
    }

    /// One thread goes on counting while another keeps and drops copies.
    void copiesOnAnotherThread()
    {
        Histogram counted;
        std::mutex mutex;
        std::atomic<bool> done = false;
        bool agree = true;
        std::thread reader([&] {
            while (!done) {
                Histogram copy;
                {
                    const std::lock_guard lock(mutex);
                    copy = counted;
                }
                uint64_t sum = 0;
                for (const uint64_t count : copy.counts().toVector())
                    sum += count;
                agree = agree && sum == copy.total();
            }
        });
        for (int i = 0; i < 3000; ++i) {
            const std::lock_guard lock(mutex);
            counted.add(float(i % 97) / 7);
        }
        done = true;
        reader.join();
        QVERIFY(agree);
        QCOMPARE(counted.total(), uint64_t(3000));
    }

    void speed()
    {
        std::mt19937 random(7);
        std::vector<float> values = mixedData(random, 1 << 20);
        for (float& v : values)
            v = std::max(v, 0.0f);
        Histogram h;
        QBENCHMARK { h.add(values); }
        QVERIFY(h.total() >= values.size());
    }
};

QTEST_APPLESS_MAIN(HistogramTest)
#include "histogram_test.moc"
