// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/kernels/random_data.h"
#include "tests/kernels/runners.h"

#include "core/kernels/reduce/norm.h"

#include <QTest>

#include <limits>

using namespace qs;
using test::RandomData;

class NormTests : public QObject {
    Q_OBJECT
private slots:
    void softmax_data();
    void softmax();
    void softmaxExtremes();
    void blocks_data();
    void blocks();
    void batchNorm();
    void localResponse();
    void lpNorm();
};

void NormTests::softmax_data()
{
    QTest::addColumn<int>("kind");
    QTest::addColumn<int>("seed");
    for (int kind = 0; kind < 3; ++kind)
        for (int seed = 0; seed < 20; ++seed)
            QTest::addRow("kind %d seed %d", kind, seed) << kind << seed;
}

void NormTests::softmax()
{
    QFETCH(int, kind);
    QFETCH(int, seed);
    RandomData random { uint32_t(seed) };
    const AxisShape s { random.integer(1, 5), random.integer(1, 40), random.integer(1, 5) };
    const auto x = random.floats(s.outer * s.size * s.inner);
    std::vector<float> y(x.size());
    std::vector<double> expected(x.size());
    qs::softmax<float>(SoftmaxKind(kind), s, x.data(), y.data());
    softmaxReference(SoftmaxKind(kind), s, test::widened(x).data(), expected.data());
    const std::string different = test::difference<float>(y, std::span<const double>(expected), 1e-6);
    QVERIFY2(different.empty(), different.c_str());
}

void NormTests::softmaxExtremes()
{
    // No overflow, and the first of equal largest elements wins in Hardmax.
    const std::vector<float> x { 1000, 1000, -1000 };
    std::vector<float> y(3);
    qs::softmax<float>(SoftmaxKind::Softmax, { 1, 3, 1 }, x.data(), y.data());
    QCOMPARE(y, (std::vector<float> { 0.5f, 0.5f, 0 }));
    qs::softmax<float>(SoftmaxKind::Hardmax, { 1, 3, 1 }, x.data(), y.data());
    QCOMPARE(y, (std::vector<float> { 1, 0, 0 }));
    qs::softmax<float>(SoftmaxKind::LogSoftmax, { 1, 3, 1 }, x.data(), y.data());
    QCOMPARE(y[2], -2000 - float(std::log(2.0)));
}

void NormTests::blocks_data()
{
    QTest::addColumn<int>("seed");
    for (int seed = 0; seed < 60; ++seed)
        QTest::addRow("seed %d", seed) << seed;
}

void NormTests::blocks()
{
    QFETCH(int, seed);
    RandomData random { uint32_t(seed) };
    BlockNorm n;
    n.centred = random.integer(0, 2) > 0;
    if (random.integer(0, 1)) { // layers
        n.blocks = random.integer(1, 6);
        n.size = n.scales = random.integer(1, 67);
    } else { // groups of channels
        const int64_t perGroup = random.integer(1, 4), groups = random.integer(1, 4);
        n.run = random.integer(1, 25);
        n.scales = perGroup * groups;
        n.size = perGroup * n.run;
        n.blocks = groups * random.integer(1, 3);
    }
    auto x = random.floats(n.blocks * n.size);
    for (float& v : x)
        v = v * 0.01f + 3; // a mean far from 0
    const auto scale = random.floats(n.scales), bias = random.floats(n.scales);
    std::vector<float> y(x.size()), mean(size_t(n.blocks)), inverse(size_t(n.blocks));
    std::vector<double> expected(x.size()), expectedMean(mean.size()), expectedInverse(mean.size());
    normalizeBlocks<float>(n, x.data(), scale.data(), bias.data(), y.data(), mean.data(), inverse.data());
    normalizeBlocksReference(n, test::widened(x).data(), test::widened(scale).data(), test::widened(bias).data(),
        expected.data(), expectedMean.data(), expectedInverse.data());
    for (const auto& different : { test::difference<float>(y, std::span<const double>(expected), 1e-6),
             test::difference<float>(mean, std::span<const double>(expectedMean), 1e-6),
             test::difference<float>(inverse, std::span<const double>(expectedInverse), 1e-6) })
        QVERIFY2(different.empty(), different.c_str());
}

void NormTests::batchNorm()
{
    RandomData random { 7 };
    const AxisShape s { 2, 5, 9 };
    const auto x = random.floats<double>(90), scale = random.floats<double>(5), bias = random.floats<double>(5),
               mean = random.floats<double>(5);
    const std::vector<double> variance { 0.5, 1, 2, 0, 4 };
    std::vector<double> folded(5), shift(5), y(90), expected(90);
    for (size_t c = 0; c < 5; ++c) {
        folded[c] = scale[c] / std::sqrt(variance[c] + 1e-3);
        shift[c] = bias[c] - mean[c] * folded[c];
    }
    scaleAndShift<double>(s, x.data(), folded.data(), shift.data(), y.data());
    batchNormReference(s, 1e-3, x.data(), scale.data(), bias.data(), mean.data(), variance.data(), expected.data());
    const std::string different = test::difference<double>(y, std::span<const double>(expected), 1e-13);
    QVERIFY2(different.empty(), different.c_str());
}

void NormTests::localResponse()
{
    // size 3 over channels 1 2 3: the middle one sees 1 + 4 + 9.
    const double x[] { 1, 2, 3 };
    double y[3];
    qs::localResponse<double>({ { 1, 3, 1 }, 3, 0.3, 0.5, 1 }, x, y);
    QCOMPARE(y[1], 2 / std::sqrt(1 + 0.1 * 14));
    QCOMPARE(y[0], 1 / std::sqrt(1 + 0.1 * 5));
    // An even size has its larger half after the element.
    qs::localResponse<double>({ { 1, 3, 1 }, 2, 0.2, 0.5, 1 }, x, y);
    QCOMPARE(y[0], 1 / std::sqrt(1 + 0.1 * 5));
    QCOMPARE(y[2], 3 / std::sqrt(1 + 0.1 * 9));
}

void NormTests::lpNorm()
{
    const float x[] { 3, -4, 0, 0 };
    float y[4];
    lpNormalize<float>(2, { 2, 2, 1 }, x, y);
    QCOMPARE(y[0], 0.6f);
    QCOMPARE(y[1], -0.8f);
    QCOMPARE(y[2], 0.0f);
    lpNormalize<float>(1, { 1, 4, 1 }, x, y);
    QCOMPARE(y[1], -4.0f / 7);
}

int runNormTests(int argc, char** argv)
{
    NormTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "norm_test.moc"
