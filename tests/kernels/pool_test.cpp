// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/kernels/random_data.h"
#include "tests/kernels/runners.h"

#include "core/kernels/window/pool.h"

#include <QTest>

#include <limits>

using namespace qs;
using test::RandomData;

namespace {

/// Odd sizes, strides, dilations, asymmetric pads, and a last window that may reach beyond the padding (ceil_mode).
WindowShape randomWindow(RandomData& random)
{
    WindowShape s;
    s.batch = random.integer(1, 2);
    s.channels = random.integer(1, 140);
    s.spatialRank = int(random.integer(1, 3));
    for (int i = 3 - s.spatialRank; i < 3; ++i) {
        SpatialAxis& a = s.axes[size_t(i)];
        a.kernel = random.integer(1, 4);
        a.stride = random.integer(1, 3);
        a.dilation = random.integer(1, 2);
        const int64_t extent = (a.kernel - 1) * a.dilation + 1;
        a.padBegin = random.integer(0, a.kernel - 1);
        a.padEnd = random.integer(0, a.kernel - 1);
        a.in = random.integer(extent, extent + 8);
        const int64_t room = a.in + a.padBegin + a.padEnd - extent;
        a.out = (room + random.integer(0, a.stride - 1)) / a.stride + 1;
        if ((a.out - 1) * a.stride >= a.in + a.padBegin)
            --a.out;
    }
    return s;
}

template <class T> std::vector<T> channelsLast(const std::vector<T>& plain, const WindowShape& s)
{
    std::vector<T> out(plain.size());
    const size_t batch = size_t(s.batch), channels = size_t(s.channels), spatial = plain.size() / (batch * channels);
    for (size_t n = 0; n < batch; ++n)
        for (size_t c = 0; c < channels; ++c)
            for (size_t p = 0; p < spatial; ++p)
                out[(n * spatial + p) * channels + c] = plain[(n * channels + c) * spatial + p];
    return out;
}

} // namespace

class PoolTests : public QObject {
    Q_OBJECT
private slots:
    void equalsReference_data();
    void equalsReference();
    void codes();
    void indices();
    void divisors();
};

void PoolTests::equalsReference_data()
{
    QTest::addColumn<int>("seed");
    for (int seed = 0; seed < 120; ++seed)
        QTest::addRow("seed %d", seed) << seed;
}

void PoolTests::equalsReference()
{
    QFETCH(int, seed);
    RandomData random { uint32_t(seed) };
    const WindowShape s = randomWindow(random);
    const PoolParams p { PoolKind(random.integer(0, 2)), AverageDivisor(random.integer(0, 1)),
        double(random.integer(1, 3)) };
    const auto x = random.floats(s.batch * s.channels * s.inSize());
    const auto outputs = size_t(s.batch * s.channels * s.outSize());
    std::vector<double> expected(outputs);
    poolReference(s, p, test::widened(x).data(), expected.data());
    const auto pool = [&](int64_t outer, int64_t inner, const std::vector<float>& in) {
        std::vector<float> y(outputs);
        if (p.kind == PoolKind::Max)
            maxPool<float>(s, outer, inner, in.data(), y.data());
        else
            sumPool(s, p, outer, inner, in.data(), y.data());
        return y;
    };
    const auto plain = pool(s.batch * s.channels, 1, x);
    const auto last = pool(s.batch, s.channels, channelsLast(x, s));
    const std::string different = test::difference<float>(plain, std::span<const double>(expected), 1e-6);
    QVERIFY2(different.empty(), different.c_str());
    QCOMPARE(channelsLast(plain, s), last);
}

namespace {

template <class T> std::string codesDiffer(const WindowShape& s, RandomData& random)
{
    const int64_t low = std::numeric_limits<T>::lowest();
    const auto x = random.integers<T>(s.batch * s.channels * s.inSize(), low, low + 255);
    std::vector<T> plain(size_t(s.batch * s.channels * s.outSize())), last(plain.size());
    std::vector<double> expected(plain.size());
    maxPool<T>(s, s.batch * s.channels, 1, x.data(), plain.data());
    maxPool<T>(s, s.batch, s.channels, channelsLast(x, s).data(), last.data());
    poolReference(s, {}, test::widened(x).data(), expected.data());
    for (double& v : expected)
        v = std::max(v, double(low)); // a window of padding alone
    if (last != channelsLast(plain, s))
        return "the layouts differ";
    return test::difference<T>(plain, std::span<const double>(expected), 0);
}

} // namespace

void PoolTests::codes()
{
    for (uint32_t seed = 0; seed < 40; ++seed) {
        RandomData random { seed };
        WindowShape s = randomWindow(random);
        if (seed == 0) // more taps than are looked at together
            s.axes = { { {}, { 12, 1, 12, 1, 1, 0, 0 }, { 12, 1, 12, 1, 1, 0, 0 } } };
        const std::string different
            = random.integer(0, 1) ? codesDiffer<int8_t>(s, random) : codesDiffer<uint8_t>(s, random);
        QVERIFY2(different.empty(), qPrintable(QString("seed %1: %2").arg(seed).arg(different.c_str())));
    }
}

void PoolTests::indices()
{
    // 2 x 3 plane, window 2 x 2: the largest are 6 (row 1, column 1) and 9 (row 0, column 2).
    WindowShape s;
    s.axes[1] = { 2, 1, 2, 1, 1, 0, 0 };
    s.axes[2] = { 3, 2, 2, 1, 1, 0, 0 };
    const std::vector<float> x { 1, 2, 9, 4, 6, 6 };
    std::vector<float> y(2);
    std::vector<int64_t> at(2);
    maxPoolIndices<float>(s, IndexOrder::RowMajor, x.data(), y.data(), at.data());
    QCOMPARE(y, (std::vector<float> { 6, 9 }));
    QCOMPARE(at, (std::vector<int64_t> { 4, 2 }));
    maxPoolIndices<float>(s, IndexOrder::ColumnMajor, x.data(), y.data(), at.data());
    QCOMPARE(at, (std::vector<int64_t> { 3, 4 }));
    // Of equal elements the first counts.
    const std::vector<float> ties(6, 1);
    maxPoolIndices<float>(s, IndexOrder::RowMajor, ties.data(), y.data(), at.data());
    QCOMPARE(at, (std::vector<int64_t> { 0, 1 }));
}

void PoolTests::divisors()
{
    // 1 2 3 with a zero on both sides, kernel 3, stride 2, ceil: windows (0 1 2), (2 3 0).
    WindowShape s;
    s.spatialRank = 1;
    s.axes[2] = { 3, 2, 3, 2, 1, 1, 1 };
    const std::vector<float> x { 1, 2, 3 };
    std::vector<float> y(2);
    sumPool(s, { PoolKind::Average, AverageDivisor::InsideOnly }, 1, 1, x.data(), y.data());
    QCOMPARE(y, (std::vector<float> { 1.5f, 2.5f }));
    sumPool(s, { PoolKind::Average, AverageDivisor::Padded }, 1, 1, x.data(), y.data());
    QCOMPARE(y, (std::vector<float> { 1, 5.0f / 3 }));
    // Without padding at the end, the second window reaches one element beyond it.
    s.axes[2].padEnd = 0;
    sumPool(s, { PoolKind::Average, AverageDivisor::Padded }, 1, 1, x.data(), y.data());
    QCOMPARE(y, (std::vector<float> { 1, 2.5f }));
}

int runPoolTests(int argc, char** argv)
{
    PoolTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "pool_test.moc"
