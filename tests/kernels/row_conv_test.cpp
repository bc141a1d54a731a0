// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/kernels/random_data.h"
#include "tests/kernels/runners.h"

#include "core/kernels/convolution/conv_bands.h"
#include "core/kernels/convolution/row_conv.h"
#include "core/kernels/convolution/spread_rows.h"
#include "core/kernels/elementwise/binary.h"
#include "core/kernels/elementwise/unary.h"

#include <QTest>

#include <cmath>
#include <cstring>
#include <limits>

using namespace qs;
using test::RandomData;

namespace {

struct Case {
    ConvShape shape;
    std::vector<float> x, weights, bias; ///< x channels-last
    size_t outputs() const { return size_t(shape.window.batch * shape.filters * shape.window.outSize()); }
    const float* biasOrNull() const { return bias.empty() ? nullptr : bias.data(); }
};

Case caseOf(RandomData& random, const ConvShape& shape)
{
    const WindowShape& w = shape.window;
    Case c { shape, random.floats(w.batch * w.channels * w.inSize()),
        random.floats(shape.filters * w.channels / shape.groups * w.kernelSize()), {} };
    if (random.integer(0, 3))
        c.bias = random.floats(shape.filters);
    return c;
}

struct Product {
    size_t index; ///< counts channels, then taps, those in the padding, too
    float x, weight;
};

/// The products of one output.
std::vector<Product> productsOf(const Case& c, int64_t image, int64_t oy, int64_t ox, int64_t filter)
{
    const WindowShape& w = c.shape.window;
    const SpatialAxis &down = w.axes[1], &across = w.axes[2];
    const int64_t channels = w.channels / c.shape.groups, perGroup = c.shape.filters / c.shape.groups;
    std::vector<Product> products;
    for (int64_t i = 0; i < channels; ++i)
        for (int64_t ky = 0; ky < down.kernel; ++ky)
            for (int64_t kx = 0; kx < across.kernel; ++kx) {
                const int64_t iy = oy * down.stride - down.padBegin + ky * down.dilation;
                const int64_t ix = ox * across.stride - across.padBegin + kx * across.dilation;
                if (iy < 0 || iy >= down.in || ix < 0 || ix >= across.in)
                    continue;
                const int64_t at
                    = ((image * down.in + iy) * across.in + ix) * w.channels + filter / perGroup * channels + i;
                const int64_t index = (i * down.kernel + ky) * across.kernel + kx;
                const int64_t weight = filter * channels * w.kernelSize() + index;
                products.push_back({ size_t(index), c.x[size_t(at)], c.weights[size_t(weight)] });
            }
    return products;
}

/// Chains of `length` products, the bias behind the last.
float inChains(const std::vector<Product>& products, size_t length, float bias)
{
    float sum = 0, chain = 0;
    size_t number = 0;
    for (const Product& p : products) {
        if (p.index / length != number) {
            sum += chain;
            chain = 0;
            number = p.index / length;
        }
        chain = std::fma(p.x, p.weight, chain);
    }
    return sum + chain + bias;
}

/// Rounded products of four taps at a time; of three at the end, two and one.
float inFours(const std::vector<Product>& products, size_t taps, float bias)
{
    float sum = 0;
    for (size_t first = 0; first < taps;) {
        const size_t left = taps - first, count = left >= 4 ? 4 : left == 3 ? 2 : left;
        float part = 0;
        for (const Product& p : products)
            if (p.index >= first && p.index < first + count) {
                const volatile float product = p.x * p.weight; // not to be fused
                part += product;
            }
        sum += part;
        first += count;
    }
    return sum + bias;
}

/// Bit by bit what the kernels promise.
std::vector<float> inOrder(const Case& c)
{
    const WindowShape& w = c.shape.window;
    const auto inputs = w.channels / c.shape.groups * w.kernelSize(), pixels = w.outSize();
    size_t length = 128;
    for (int64_t columns = 128; pixels < inputs && columns > 16 && columns / 2 >= pixels; columns /= 2)
        length *= 2;
    std::vector<float> y;
    for (int64_t b = 0; b < w.batch; ++b)
        for (int64_t oy = 0; oy < w.axes[1].out; ++oy)
            for (int64_t ox = 0; ox < w.axes[2].out; ++ox)
                for (int64_t f = 0; f < c.shape.filters; ++f) {
                    const auto products = productsOf(c, b, oy, ox, f);
                    const float bias = c.bias.empty() ? 0 : c.bias[size_t(f)];
                    y.push_back(c.shape.groups > 1 ? inFours(products, size_t(w.kernelSize()), bias)
                                                   : inChains(products, length, bias));
                }
    return y;
}

/// The pieces in reverse order, over an output that was something else before.
std::vector<float> run(const Case& c, const SumEpilogue& epilogue)
{
    const auto weights = packRowConv(c.shape, c.weights.data(), c.biasOrNull());
    const auto prepared = prepareRowConv(c.shape, weights);
    std::vector<float> y(c.outputs(), std::numeric_limits<float>::quiet_NaN());
    const auto scratch = test::scratchMemory(prepared->scratchBytes());
    for (size_t i = prepared->pieces().size(); i-- > 0;)
        prepared->run(i, c.x.data(), y.data(), scratch.get(), epilogue);
    return y;
}

bool sameBits(const std::vector<float>& a, const std::vector<float>& b)
{
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), 4 * a.size()) == 0;
}

SpatialAxis randomAxis(RandomData& random)
{
    SpatialAxis a;
    a.kernel = random.integer(1, 5);
    a.stride = random.integer(1, 3);
    a.dilation = random.integer(0, 2) ? 1 : random.integer(1, 3);
    const int64_t extent = (a.kernel - 1) * a.dilation + 1;
    a.padBegin = random.integer(-1, extent);
    a.padEnd = random.integer(0, extent);
    a.in = random.integer(std::max<int64_t>(1, extent - a.padBegin - a.padEnd), extent + 30);
    a.out = (a.in + a.padBegin + a.padEnd - extent) / a.stride + 1;
    return a;
}

ConvShape randomShape(RandomData& random)
{
    ConvShape s;
    s.window.batch = random.integer(1, 2);
    s.window.axes = { SpatialAxis {}, randomAxis(random), randomAxis(random) };
    s.window.channels = random.integer(0, 4) ? random.integer(1, 37) : random.integer(130, 300);
    s.filters = random.integer(1, 70);
    if (random.integer(0, 2) == 0) { // depthwise
        s.window.channels = random.integer(2, 50);
        s.filters = s.groups = s.window.channels;
    } else if (random.integer(0, 2) == 0) {
        for (SpatialAxis& a : s.window.axes)
            a = { a.in, a.in };
    }
    return s;
}

} // namespace

class RowConvTests : public QObject {
    Q_OBJECT
private slots:
    void initTestCase()
    {
        if (!hasFloatRows())
            QSKIP("this CPU has no fused multiplication and addition");
    }
    void bitsInOrder_data();
    void bitsInOrder();
    void epilogues_data();
    void epilogues();
    void panelsAreShared_data();
    void panelsAreShared();
    void copiesHoldWhatIsRead_data();
    void copiesHoldWhatIsRead();
    void products();
    void bandsEqualOneAfterAnother_data();
    void bandsEqualOneAfterAnother();
};

void RowConvTests::bitsInOrder_data()
{
    QTest::addColumn<int>("seed");
    for (int seed = 0; seed < 200; ++seed)
        QTest::addRow("seed %d", seed) << seed;
}

void RowConvTests::bitsInOrder()
{
    QFETCH(int, seed);
    RandomData random { uint32_t(seed) };
    const Case c = caseOf(random, randomShape(random));
    QVERIFY(suitsRowConv(c.shape));
    QVERIFY(sameBits(run(c, {}), inOrder(c)));
}

void RowConvTests::epilogues_data()
{
    QTest::addColumn<int>("seed");
    QTest::addColumn<bool>("adds");
    QTest::addColumn<int>("bound");
    for (int seed = 0; seed < 8; ++seed)
        for (const bool adds : { false, true })
            for (int bound = 0; bound < 3; ++bound)
                QTest::addRow("seed %d, %s, bound %d", seed, adds ? "addend" : "alone", bound) << seed << adds << bound;
}

void RowConvTests::epilogues()
{
    QFETCH(int, seed);
    QFETCH(bool, adds);
    QFETCH(int, bound);
    RandomData random { uint32_t(seed) };
    Case c = caseOf(random, randomShape(random));
    c.x[c.x.size() / 2] = std::numeric_limits<float>::quiet_NaN();
    c.x[c.x.size() / 3] = -std::numeric_limits<float>::infinity();
    std::vector<float> addend = random.floats(int64_t(c.outputs()));
    std::vector<float> expected = run(c, {});
    SumEpilogue epilogue;
    if (adds) {
        for (size_t i = 0; i < addend.size(); i += 3)
            addend[i] = std::isfinite(expected[i]) ? -expected[i] : 1; // sums that are 0
        epilogue.addend = addend.data();
        binaryFast(BinaryOp::Add, { expected.data(), 1 }, { addend.data(), 1 }, expected.data(), expected.size());
    }
    UnaryParams params;
    params.low = -0.5;
    params.high = 0.75;
    if (bound > 0) {
        epilogue.bound = bound == 1 ? SumEpilogue::Bound::Relu : SumEpilogue::Bound::Clip;
        epilogue.low = -0.5f;
        epilogue.high = 0.75f;
        unaryFast(
            bound == 1 ? UnaryOp::Relu : UnaryOp::Clip, params, expected.data(), expected.data(), expected.size());
    }
    QVERIFY(sameBits(run(c, epilogue), expected));
    if (adds) { // in place
        const auto prepared = prepareRowConv(c.shape, packRowConv(c.shape, c.weights.data(), c.biasOrNull()));
        const auto scratch = test::scratchMemory(prepared->scratchBytes());
        QVERIFY(prepared->run(c.x.data(), addend.data(), scratch.get(), epilogue));
        QVERIFY(sameBits(addend, expected));
    }
}

void RowConvTests::panelsAreShared_data()
{
    QTest::addColumn<ConvShape>("shape");
    QTest::addColumn<bool>("contiguous");
    const auto shape = [](int64_t batch, int64_t channels, int64_t filters, SpatialAxis rows, SpatialAxis columns) {
        ConvShape s;
        s.window.batch = batch;
        s.window.channels = channels;
        s.window.axes = { SpatialAxis {}, rows, columns };
        s.filters = filters;
        return s;
    };
    const SpatialAxis seven { 7, 7, 3, 1, 1, 1, 1 };
    QTest::newRow("3x3") << shape(1, 150, 130, seven, seven) << false;
    QTest::newRow("1x1") << shape(2, 500, 300, { 5, 5 }, { 3, 3 }) << false;
    QTest::newRow("step 2") << shape(2, 400, 333, { 5, 3, 1, 2 }, { 5, 3, 1, 2 }) << false;
    QTest::newRow("several bands") << shape(1, 300, 450, { 20, 20 }, { 20, 20 }) << false;
    // Pixels a multiple of 256 channels apart are copied to others.
    QTest::newRow("256 channels") << shape(2, 256, 96, { 15, 8, 3, 2, 1, 1, 1 }, { 15, 8, 3, 2, 1, 1, 1 }) << false;
    QTest::newRow("512 channels, dilated, deep pads")
        << shape(1, 512, 70, { 9, 10, 3, 1, 2, 4, 1 }, { 6, 7, 2, 1, 1, 0, 2 }) << false;
    QTest::newRow("1024 channels, step 2") << shape(2, 1024, 128, { 6, 3, 1, 2 }, { 5, 3, 1, 2 }) << true;
    QTest::newRow("several copies") << shape(1, 256, 128, { 33, 17, 3, 2, 1, 1, 1 }, { 31, 11, 3, 3, 1, 1, 1 })
                                    << false;
    QTest::newRow("copies of several images")
        << shape(9, 256, 96, { 8, 8, 3, 1, 1, 1, 1 }, { 7, 7, 3, 1, 1, 1, 1 }) << false;
    QTest::newRow("pieces within images")
        << shape(2, 256, 64, { 40, 20, 2, 2, 1, 0, 0 }, { 60, 20, 3, 3, 1, 0, 0 }) << true;
    QTest::newRow("small weights") << shape(1, 20, 40, { 60, 60, 3, 1, 1, 1, 1 }, { 60, 60, 3, 1, 1, 1, 1 }) << true;
}

void RowConvTests::panelsAreShared()
{
    QFETCH(ConvShape, shape);
    QFETCH(bool, contiguous);
    RandomData random { 5 };
    const Case c = caseOf(random, shape);
    const auto prepared = prepareRowConv(shape, packRowConv(shape, c.weights.data(), c.biasOrNull()));
    QVERIFY(prepared->pieces().size() > 1);
    QCOMPARE(prepared->contiguous(), contiguous);
    const std::vector<float> expected = inOrder(c);
    QVERIFY(sameBits(run(c, {}), expected));
    std::vector<float> y(c.outputs());
    const auto scratch = test::scratchMemory(prepared->scratchBytes());
    const size_t all = prepared->pieces().size(), some = all / 3; // neighbours at once
    QVERIFY(prepared->runPieces(some, all, c.x.data(), y.data(), scratch.get(), {}));
    QVERIFY(prepared->runPieces(0, some, c.x.data(), y.data(), scratch.get(), {}));
    QVERIFY(sameBits(y, expected));
    std::ranges::fill(y, 0);
    const auto rows = shape.window.batch * shape.window.axes[1].out;
    for (int64_t row = 0; row < rows; ++row)
        prepared->makeRow(c.x.data(), row, y.data() + row * int64_t(y.size()) / rows, scratch.get(), SumEpilogue());
    QVERIFY(sameBits(y, expected));

    std::vector<float> sums = random.floats(int64_t(y.size())), added = sums; // in place
    SumEpilogue epilogue;
    epilogue.addend = sums.data();
    QVERIFY(prepared->run(c.x.data(), sums.data(), scratch.get(), epilogue));
    for (size_t i = 0; i < added.size(); ++i)
        added[i] = expected[i] + added[i];
    QVERIFY(sameBits(sums, added));
}

void RowConvTests::copiesHoldWhatIsRead_data()
{
    QTest::addColumn<int>("batch");
    QTest::addColumn<SpatialAxis>("down");
    QTest::addColumn<bool>("needed");
    QTest::addColumn<int>("firstEnd"); // of the rows made of the first copy
    QTest::newRow("whole images") << 5 << SpatialAxis { 7, 7, 3, 1, 1, 1, 1 } << true << 5 * 7;
    QTest::newRow("rows of an image") << 2 << SpatialAxis { 70, 35, 3, 2, 1, 1, 1 } << true << 25;
    QTest::newRow("deep pads") << 3 << SpatialAxis { 9, 19, 3, 1, 1, 6, 6 } << true << 3 * 19;
    QTest::newRow("far apart: each row would be copied often") << 1 << SpatialAxis { 200, 80, 3, 1, 60 } << false << 0;
    QTest::newRow("few of the rows are read") << 1 << SpatialAxis { 60, 12, 1, 5, 1 } << false << 0;
}

void RowConvTests::copiesHoldWhatIsRead()
{
    QFETCH(int, batch);
    QFETCH(SpatialAxis, down);
    QFETCH(bool, needed);
    QFETCH(int, firstEnd);
    WindowShape w;
    w.batch = batch;
    w.channels = 256;
    w.axes = { SpatialAxis {}, down, SpatialAxis { 20, 18, 3, 1, 1, 0, 0 } };
    const SpreadRows spread(w, 64);
    QCOMPARE(spread.needed(), needed);
    if (!needed)
        return;
    const int64_t rows = batch * down.out, image = w.axes[2].in * down.in * w.channels;
    QCOMPARE(spread.lastRow(0, rows), int64_t(firstEnd));
    RandomData random { 3 };
    const std::vector<float> x = random.floats(batch * image);
    std::vector<float> room(spread.floats());
    for (int64_t row = 0, end; row < rows; row = end) {
        end = spread.lastRow(row, rows);
        const float* at = spread.copy(x.data(), row, end, room.data());
        for (int64_t r = row; r < end; ++r)
            for (int64_t k = 0; k < down.kernel; ++k) {
                const int64_t in = r % down.out * down.stride - down.padBegin + k * down.dilation;
                for (int64_t column = 0; in >= 0 && in < down.in && column < w.axes[2].in; ++column) {
                    const int64_t n = r / down.out;
                    const float* copied
                        = at + n * spread.inputImage() + in * spread.inputRow() + column * spread.pixel();
                    QVERIFY(copied >= room.data() && copied + w.channels <= room.data() + room.size());
                    QVERIFY(std::memcmp(copied, &x[size_t(n * image + (in * w.axes[2].in + column) * w.channels)],
                                sizeof(float) * size_t(w.channels))
                        == 0);
                }
            }
    }
}

void RowConvTests::products()
{
    for (uint32_t seed = 0; seed < 60; ++seed) {
        RandomData random { seed };
        const int64_t rows = random.integer(1, 40), columns = random.integer(1, 80);
        const int64_t inner = random.integer(0, 3) ? random.integer(1, 90) : random.integer(200, 800);
        const bool transposed = random.integer(0, 1), biased = random.integer(0, 1);
        const auto a = random.floats(rows * inner), b = random.floats(inner * columns), bias = random.floats(columns);
        const auto prepared
            = prepareProduct(rows, packProduct(b.data(), inner, columns, transposed, biased ? bias.data() : nullptr));
        std::vector<float> expected, y(size_t(rows * columns));
        for (int64_t r = 0; r < rows; ++r)
            for (int64_t n = 0; n < columns; ++n) {
                float sum = biased ? bias[size_t(n)] : 0;
                for (int64_t first = 0; first < inner; first += 256) {
                    float chain = 0;
                    for (int64_t k = first; k < std::min(inner, first + 256); ++k)
                        chain = std::fma(
                            a[size_t(r * inner + k)], b[size_t(transposed ? n * inner + k : k * columns + n)], chain);
                    sum += chain;
                }
                expected.push_back(sum);
            }
        const auto scratch = test::scratchMemory(prepared->scratchBytes());
        QVERIFY(prepared->run(a.data(), y.data(), scratch.get()));
        QVERIFY2(sameBits(y, expected), qPrintable(QString("seed %1").arg(seed)));
    }
}

void RowConvTests::bandsEqualOneAfterAnother_data()
{
    QTest::addColumn<SpatialAxis>("first");
    QTest::addColumn<SpatialAxis>("down");
    QTest::addColumn<SpatialAxis>("across");
    QTest::newRow("1x1, 3x3") << SpatialAxis { 64, 64 } << SpatialAxis { 64, 64, 3, 1, 1, 1, 1 }
                              << SpatialAxis { 64, 64, 3, 1, 1, 1, 1 };
    QTest::newRow("1x1, step 2") << SpatialAxis { 65, 65 } << SpatialAxis { 65, 33, 3, 2, 1, 1, 1 }
                                 << SpatialAxis { 65, 32, 3, 2, 1, 0, 1 };
    QTest::newRow("3x3 step 2, 5x5 dilated")
        << SpatialAxis { 131, 66, 3, 2, 1, 1, 1 } << SpatialAxis { 66, 62, 5, 1, 2, 3, 1 }
        << SpatialAxis { 66, 66, 3, 1, 1, 1, 1 };
    QTest::newRow("2x2, step larger than window")
        << SpatialAxis { 67, 66, 2, 1, 1, 0, 0 } << SpatialAxis { 66, 22, 2, 3, 1, 0, 0 }
        << SpatialAxis { 66, 65, 3, 1, 1, 1, 0 };
    QTest::newRow("deep pads") << SpatialAxis { 64, 64 } << SpatialAxis { 64, 70, 3, 1, 1, 4, 4 }
                               << SpatialAxis { 64, 68, 3, 1, 1, 3, 3 };
}

void RowConvTests::bandsEqualOneAfterAnother()
{
    QFETCH(SpatialAxis, first);
    QFETCH(SpatialAxis, down);
    QFETCH(SpatialAxis, across);
    RandomData random { 3 };
    const auto shape = [](int64_t channels, int64_t filters, const SpatialAxis& rows, const SpatialAxis& columns) {
        ConvShape s;
        s.window.batch = 2;
        s.window.channels = channels;
        s.window.axes = { SpatialAxis {}, rows, columns };
        s.filters = filters;
        return s;
    };
    ConvTriple triple;
    triple.shapes = { shape(5, 67, first, first), shape(67, 67, down, across),
        shape(67, 21, { down.out, down.out }, { across.out, across.out }) };
    triple.shapes[1].groups = 67;
    triple.epilogues[0].bound = SumEpilogue::Bound::Relu;
    triple.epilogues[1] = { nullptr, SumEpilogue::Bound::Clip, -1, 2 };
    std::vector<float> expected;
    Case cases[3];
    for (size_t i = 0; i < 3; ++i) {
        cases[i] = caseOf(random, triple.shapes[i]);
        if (i > 0)
            cases[i].x = expected;
        triple.weights[i] = packRowConv(triple.shapes[i], cases[i].weights.data(), cases[i].biasOrNull());
        expected = run(cases[i], i < 2 ? triple.epilogues[i] : SumEpilogue());
    }
    QVERIFY(suitsConvBands(triple.shapes));
    const auto bands = prepareConvBands(triple);
    QVERIFY(bands->pieces().size() > 1);
    std::vector<float> y(expected.size());
    const auto scratch = test::scratchMemory(bands->scratchBytes());
    for (size_t i = bands->pieces().size(); i-- > 0;)
        QVERIFY(bands->run(i, cases[0].x.data(), y.data(), scratch.get(), {}));
    QVERIFY(sameBits(y, expected));
    // A residual sum behind it.
    const std::vector<float> addend = random.floats(int64_t(y.size()));
    const SumEpilogue epilogue { addend.data(), SumEpilogue::Bound::Relu };
    QVERIFY(bands->run(cases[0].x.data(), y.data(), scratch.get(), epilogue));
    QVERIFY(sameBits(y, run(cases[2], epilogue)));
}

int runRowConvTests(int argc, char** argv)
{
    RowConvTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "row_conv_test.moc"
