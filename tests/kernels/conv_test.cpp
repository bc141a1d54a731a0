// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/kernels/random_data.h"
#include "tests/kernels/runners.h"

#include "core/kernels/convolution/conv_parts.h"
#include "core/kernels/convolution/conv_reference.h"
#include "core/kernels/convolution/float_conv.h"

#include <QTest>

#include <cstring>
#include <thread>

using namespace qs;
using test::RandomData;

namespace {

/// N x C x spatial between plain and channels-last.
template <class T> std::vector<T> channelsLast(const std::vector<T>& plain, int64_t batch, int64_t channels)
{
    std::vector<T> out(plain.size());
    const int64_t spatial = int64_t(plain.size()) / (batch * channels);
    for (int64_t n = 0; n < batch; ++n)
        for (int64_t c = 0; c < channels; ++c)
            for (int64_t s = 0; s < spatial; ++s)
                out[size_t((n * spatial + s) * channels + c)] = plain[size_t((n * channels + c) * spatial + s)];
    return out;
}

SpatialAxis randomAxis(RandomData& random, ConvDirection direction)
{
    SpatialAxis a;
    a.kernel = random.integer(1, 4);
    a.stride = random.integer(1, 3);
    a.dilation = random.integer(1, 3);
    const int64_t extent = (a.kernel - 1) * a.dilation + 1;
    a.padBegin = random.integer(0, extent - 1);
    a.padEnd = random.integer(0, extent - 1);
    if (direction == ConvDirection::Forward) {
        a.in = random.integer(std::max<int64_t>(1, extent - a.padBegin - a.padEnd), extent + 9);
        a.out = (a.in + a.padBegin + a.padEnd - extent) / a.stride + 1;
    } else {
        a.in = random.integer(1, 7);
        a.out = (a.in - 1) * a.stride + extent + random.integer(0, a.stride - 1) - a.padBegin - a.padEnd;
        if (a.out < 1) {
            a.padBegin = a.padEnd = 0;
            a.out = (a.in - 1) * a.stride + extent;
        }
    }
    return a;
}

ConvShape randomShape(RandomData& random, ConvDirection direction)
{
    ConvShape s;
    s.window.batch = random.integer(1, 2);
    s.window.spatialRank = int(random.integer(1, 3));
    for (int i = 3 - s.window.spatialRank; i < 3; ++i)
        s.window.axes[size_t(i)] = randomAxis(random, direction);
    switch (random.integer(0, 2)) {
    case 0: // depthwise, perhaps several filters a channel
        s.groups = random.integer(1, 40);
        s.window.channels = s.groups;
        s.filters = s.groups * random.integer(1, 2);
        break;
    case 1:
        s.groups = random.integer(2, 4);
        s.window.channels = s.groups * random.integer(1, 18);
        s.filters = s.groups * random.integer(1, 18);
        break;
    default:
        s.window.channels = random.integer(1, 40);
        s.filters = random.integer(1, 40);
        break;
    }
    return s;
}

struct ConvCase {
    ConvShape shape;
    std::vector<float> x, weights, bias;
    int64_t outputs() const { return shape.window.batch * shape.filters * shape.window.outSize(); }
};

ConvCase randomCase(RandomData& random, ConvDirection direction)
{
    ConvCase c;
    c.shape = randomShape(random, direction);
    const WindowShape& w = c.shape.window;
    c.x = random.floats(w.batch * w.channels * w.inSize());
    c.weights = random.floats(w.channels * c.shape.filters / c.shape.groups * w.kernelSize());
    if (random.integer(0, 3))
        c.bias = random.floats(c.shape.filters);
    return c;
}

std::vector<float> runPrepared(const ConvCase& c, const PreparedConv& prepared)
{
    const std::vector<float> x = channelsLast(c.x, c.shape.window.batch, c.shape.window.channels);
    std::vector<float> y(size_t(c.outputs()));
    const auto scratch = test::scratchMemory(prepared.scratchBytes());
    return prepared.run(x.data(), y.data(), scratch.get()) ? y : std::vector<float>();
}

} // namespace

class ConvTests : public QObject {
    Q_OBJECT
private slots:
    void byHand();
    void fastEqualsReference_data();
    void fastEqualsReference();
    void partsEqualReference_data();
    void partsEqualReference();
    void sameBitsOnEveryThread();
};

void ConvTests::byHand()
{
    // 1 2 3 4 with kernel 1 -1, one zero in front: -1 -1 -1 -1, then bias 10.
    ConvShape s;
    s.window.spatialRank = 1;
    s.window.axes[2] = { 4, 4, 2, 1, 1, 1, 0 };
    const double x[] { 1, 2, 3, 4 }, w[] { 1, -1 }, bias[] { 10 };
    double y[4];
    convReference(s, x, w, bias, y);
    const std::vector<double> expected { 9, 9, 9, 9 };
    QCOMPARE(std::vector<double>(y, y + 4), expected);

    // Transposed, stride 2: each input paints 1 -1.
    s.window.axes[2] = { 2, 4, 2, 2, 1, 0, 0 };
    convTransposeReference(s, x, w, nullptr, y);
    const std::vector<double> painted { 1, -1, 2, -2 };
    QCOMPARE(std::vector<double>(y, y + 4), painted);
}

void ConvTests::fastEqualsReference_data()
{
    QTest::addColumn<int>("seed");
    QTest::addColumn<bool>("transposed");
    for (int seed = 0; seed < 150; ++seed) {
        QTest::addRow("conv seed %d", seed) << seed << false;
        QTest::addRow("transposed seed %d", seed) << seed << true;
    }
}

void ConvTests::fastEqualsReference()
{
    QFETCH(int, seed);
    QFETCH(bool, transposed);
    RandomData random { uint32_t(seed) };
    const auto direction = transposed ? ConvDirection::Transposed : ConvDirection::Forward;
    const ConvCase c = randomCase(random, direction);
    FloatConv conv(direction, c.weights.data(), c.bias.empty() ? nullptr : c.bias.data());
    const auto prepared = conv.prepare(c.shape);
    if (!prepared)
        QSKIP("no fast kernel for this shape");
    const std::vector<double> bias = test::widened(c.bias);
    std::vector<double> expected(size_t(c.outputs()));
    const auto reference = transposed ? convTransposeReference : convReference;
    reference(c.shape, test::widened(c.x).data(), test::widened(c.weights).data(), bias.empty() ? nullptr : bias.data(),
        expected.data());
    expected = channelsLast(expected, c.shape.window.batch, c.shape.filters);
    const std::string different
        = test::difference<float>(runPrepared(c, *prepared), std::span<const double>(expected), 1e-5);
    QVERIFY2(different.empty(), different.c_str());
}

void ConvTests::partsEqualReference_data()
{
    QTest::addColumn<ConvShape>("shape");
    QTest::addColumn<bool>("transposed");
    QTest::addColumn<bool>("severalParts");
    const auto shape
        = [](int64_t batch, int64_t channels, int64_t filters, int64_t groups, SpatialAxis rows, SpatialAxis columns) {
              ConvShape s;
              s.window.batch = batch;
              s.window.channels = channels;
              s.window.axes = { SpatialAxis {}, rows, columns };
              s.filters = filters;
              s.groups = groups;
              return s;
          };
    QTest::newRow("1x1") << shape(2, 9, 33, 1, { 53, 53 }, { 51, 51 }) << false << true;
    QTest::newRow("3x3") << shape(1, 16, 40, 1, { 60, 60, 3, 1, 1, 1, 1 }, { 50, 50, 3, 1, 1, 1, 1 }) << false << true;
    QTest::newRow("stride 2, asymmetric pads")
        << shape(2, 5, 64, 1, { 81, 41, 3, 2, 1, 0, 2 }, { 100, 50, 3, 2, 1, 0, 1 }) << false << true;
    QTest::newRow("dilated, deep pads") << shape(1, 8, 48, 1, { 40, 40, 5, 1, 3, 6, 6 }, { 60, 60, 3, 1, 2, 2, 2 })
                                        << false << true;
    QTest::newRow("depthwise") << shape(1, 40, 40, 40, { 50, 50, 3, 1, 1, 1, 1 }, { 50, 50, 3, 1, 1, 1, 1 }) << false
                               << true;
    QTest::newRow("many images") << shape(20, 4, 16, 1, { 20, 20 }, { 20, 20 }) << false << true;
    QTest::newRow("large weights") << shape(3, 256, 200, 1, { 8, 8, 3, 1, 1, 1, 1 }, { 7, 7, 3, 1, 1, 1, 1 }) << false
                                   << true;
    QTest::newRow("one part") << shape(1, 3, 5, 1, { 8, 8 }, { 8, 8 }) << false << false;
    QTest::newRow("transposed, separate windows")
        << shape(2, 20, 12, 1, { 40, 80, 2, 2 }, { 45, 90, 2, 2 }) << true << true;
    QTest::newRow("transposed, windows overlap")
        << shape(1, 20, 12, 1, { 40, 81, 3, 2 }, { 45, 91, 3, 2 }) << true << false;
}

void ConvTests::partsEqualReference()
{
    QFETCH(ConvShape, shape);
    QFETCH(bool, transposed);
    QFETCH(bool, severalParts);
    const auto direction = transposed ? ConvDirection::Transposed : ConvDirection::Forward;
    size_t made = 0;
    const std::vector<ConvPart> parts = convParts(shape, direction);
    for (const ConvPart& part : parts) {
        QCOMPARE(part.outputBegin, made); // one after another
        made = part.outputEnd;
    }
    QCOMPARE(parts.size() > 1, severalParts);
    RandomData random { 1 };
    ConvCase c { shape, random.floats(shape.window.batch * shape.window.channels * shape.window.inSize()),
        random.floats(shape.window.channels * shape.filters / shape.groups * shape.window.kernelSize()),
        random.floats(shape.filters) };
    QCOMPARE(made, size_t(c.outputs()));
    FloatConv conv(direction, c.weights.data(), c.bias.data());
    const auto prepared = conv.prepare(shape);
    QVERIFY(prepared);
    std::vector<double> expected(made);
    (transposed ? convTransposeReference : convReference)(shape, test::widened(c.x).data(),
        test::widened(c.weights).data(), test::widened(c.bias).data(), expected.data());
    expected = channelsLast(expected, shape.window.batch, shape.filters);
    const std::string different
        = test::difference<float>(runPrepared(c, *prepared), std::span<const double>(expected), 1e-5);
    QVERIFY2(different.empty(), different.c_str());
}

void ConvTests::sameBitsOnEveryThread()
{
    for (uint32_t seed = 0; seed < 8; ++seed) {
        RandomData random { seed };
        const ConvCase c = randomCase(random, ConvDirection::Forward);
        const float* bias = c.bias.empty() ? nullptr : c.bias.data();
        FloatConv shared(ConvDirection::Forward, c.weights.data(), bias);
        std::vector<std::vector<float>> results(4);
        std::vector<std::thread> threads;
        for (auto& result : results)
            threads.emplace_back([&] {
                FloatConv own(ConvDirection::Forward, c.weights.data(), bias);
                const auto a = shared.prepare(c.shape), b = own.prepare(c.shape);
                if (a && b && runPrepared(c, *a) == runPrepared(c, *b))
                    result = runPrepared(c, *a);
            });
        for (auto& thread : threads)
            thread.join();
        for (const auto& result : results)
            QVERIFY2(result == results[0], qPrintable(QString("seed %1").arg(seed)));
    }
}

int runConvTests(int argc, char** argv)
{
    ConvTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "conv_test.moc"
