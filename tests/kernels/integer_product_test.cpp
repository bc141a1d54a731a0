// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/kernels/code_data.h"
#include "tests/kernels/runners.h"

#include "core/kernels/codes/code_product.h"
#include "core/kernels/codes/integer_conv.h"

#include <QTest>

#include <limits>

using namespace qs;
using test::codes;
using test::RandomData;
using test::zeroPoint;
using test::zeroPoints;

namespace {

IntegerConv randomConv(RandomData& random)
{
    IntegerConv c;
    c.batch = random.integer(1, 2);
    c.groups = random.integer(1, 4);
    c.inChannels = c.groups * random.integer(1, 9);
    c.outChannels = c.groups * random.integer(1, 20);
    if (random.integer(0, 2) == 0)
        c.groups = c.inChannels = c.outChannels = random.integer(2, 40);
    for (size_t d = static_cast<size_t>(random.integer(0, 2)); d < 3; ++d) {
        c.kernel[d] = random.integer(1, 3);
        c.dilation[d] = random.integer(1, 2);
        c.stride[d] = random.integer(1, 3);
        c.pad[d] = random.integer(0, 2);
        const int64_t reach = (c.kernel[d] - 1) * c.dilation[d] + 1;
        c.in[d] = random.integer(reach, reach + 6);
        c.out[d] = (c.in[d] + 2 * c.pad[d] - reach) / c.stride[d] + 1;
    }
    return c;
}

std::vector<uint8_t> channelsLast(const std::vector<uint8_t>& x, int64_t batch, int64_t channels, int64_t positions)
{
    std::vector<uint8_t> y(x.size());
    for (int64_t b = 0; b < batch; ++b)
        for (int64_t c = 0; c < channels; ++c)
            for (int64_t p = 0; p < positions; ++p)
                y[size_t((b * positions + p) * channels + c)] = x[size_t((b * channels + c) * positions + p)];
    return y;
}

} // namespace

class IntegerProductTests : public QObject {
    Q_OBJECT
private slots:
    void byHand();
    void sumsWrap();
    void productEqualsReference_data();
    void productEqualsReference();
    void packedProductEqualsReference_data();
    void packedProductEqualsReference();
    void convEqualsReference_data();
    void convEqualsReference();
    void requantizesByHand();
    void requantizeEqualsReference();
};

void IntegerProductTests::byHand()
{
    const uint8_t a[] { 1, 2, 255 }, b[] { 0xff, 2, 0x80 }; // b as int8: -1, 2, -128
    const int32_t az[] { 1 };
    int32_t sum = 0;
    multiplyReference({ { a, false }, 1, 3, 3, 1 }, az, { { b, true }, 3, 1, 1, 1 }, {}, &sum);
    QCOMPARE(sum, 0 * -1 + 1 * 2 + 254 * -128);
}

void IntegerProductTests::sumsWrap()
{
    // 255 * 255 * 33100 is more than 2^31.
    const int64_t depth = 33100;
    const std::vector<uint8_t> a(size_t(depth), 255), b(size_t(depth), 255);
    std::vector<int16_t> row(size_t(widenedDepth(depth)));
    widen({ a.data(), false }, depth, 1, 0, row.data());
    int32_t expected = 0, sum = 0;
    const CodeMatrix right { { b.data(), false }, depth, 1, 1, 1 };
    multiplyReference({ { a.data(), false }, 1, depth, depth, 1 }, {}, right, {}, &expected);
    multiply(row.data(), 1, packCodes(right, {}), &sum, 1);
    int32_t packed = 0;
    const CodeProduct product(right, {});
    const auto scratch = test::scratchMemory(size_t(product.scratchBytes(1)));
    product.sums({ a.data(), false }, 1, {}, scratch.get(), &packed);
    QCOMPARE(packed, expected);
    QCOMPARE(expected, int32_t(uint32_t(uint64_t(255 * 255) * uint64_t(depth))));
    QCOMPARE(sum, expected);
}

void IntegerProductTests::productEqualsReference_data()
{
    QTest::addColumn<int>("seed");
    for (int seed = 0; seed < test::seeds(200); ++seed)
        QTest::addRow("seed %d", seed) << seed;
}

void IntegerProductTests::productEqualsReference()
{
    QFETCH(int, seed);
    RandomData random { uint32_t(seed) };
    const int64_t rows = random.integer(1, 20), depth = random.integer(1, 70), columns = random.integer(1, 50);
    const bool aSigned = random.integer(0, 1), bSigned = random.integer(0, 1), turned = random.integer(0, 1);
    const auto a = codes(random, rows * depth), b = codes(random, depth * columns);
    const auto az = zeroPoints(random, aSigned, rows), bz = zeroPoints(random, bSigned, columns);
    const CodeMatrix left { { a.data(), aSigned }, rows, depth, turned ? 1 : depth, turned ? rows : 1 };
    const CodeMatrix right { { b.data(), bSigned }, depth, columns, turned ? 1 : columns, turned ? depth : 1 };
    std::vector<int32_t> expected(size_t(rows * columns)), sums(expected.size());
    multiplyReference(left, az, right, bz, expected.data());
    std::vector<int16_t> wide(size_t(rows * widenedDepth(depth)));
    for (int64_t r = 0; r < rows; ++r)
        widen(left.codes.from(r * left.rowStride), depth, left.columnStride, pick(az, r),
            wide.data() + r * widenedDepth(depth));
    multiply(wide.data(), rows, packCodes(right, bz), sums.data(), columns);
    QCOMPARE(sums, expected);
}

void IntegerProductTests::packedProductEqualsReference_data() { test::addProductSeeds(300); }

void IntegerProductTests::packedProductEqualsReference()
{
    QFETCH(int, seed);
    QFETCH(bool, dots);
    RandomData random { uint32_t(seed) };
    const int64_t rows = random.integer(1, 70), depth = random.integer(1, 70), columns = random.integer(1, 150);
    const bool aSigned = random.integer(0, 1), bSigned = random.integer(0, 2), outSigned = random.integer(0, 1);
    const auto a = codes(random, rows * depth), b = codes(random, depth * columns);
    const auto az = zeroPoints(random, aSigned, rows);
    const auto bz
        = random.integer(0, 1) ? zeroPoints(random, bSigned, columns) : std::vector<int32_t> { bSigned ? 0 : 128 };
    const CodeMatrix left { { a.data(), aSigned }, rows, depth, depth, 1 };
    const CodeMatrix right { { b.data(), bSigned }, depth, columns, columns, 1 };
    std::vector<int32_t> expected(size_t(rows * columns)), sums(expected.size());
    multiplyReference(left, az, right, bz, expected.data());
    const CodeProduct product(right, bz, dots ? CodeProducts::Best : CodeProducts::Pairs);
    const auto scratch = test::scratchMemory(size_t(product.scratchBytes(rows)));
    product.sums(left.codes, rows, az, scratch.get(), sums.data());
    QCOMPARE(sums, expected);
    if (az.size() > 1)
        return;
    const auto bias = random.integers<int32_t>(random.integer(0, 1) ? columns : 0, -30000, 30000);
    const auto multiplier = test::multipliers(random, columns);
    const Requantization q { multiplier, bias, zeroPoint(random, outSigned), outSigned ? -128 : 0,
        outSigned ? 127 : 255 };
    std::vector<uint8_t> expectedCodes(sums.size()), out(sums.size());
    requantizeReference(expected.data(), rows, columns, q, expectedCodes.data());
    product.codes(left.codes, rows, pick(az, 0), q, scratch.get(), out.data());
    QCOMPARE(out, expectedCodes);
}

void IntegerProductTests::convEqualsReference_data() { productEqualsReference_data(); }

void IntegerProductTests::convEqualsReference()
{
    QFETCH(int, seed);
    RandomData random { uint32_t(seed) };
    const IntegerConv c = randomConv(random);
    const bool xSigned = random.integer(0, 1), wSigned = random.integer(0, 1);
    const auto x = codes(random, c.batch * c.inChannels * c.inPositions());
    const auto w = codes(random, c.outChannels * (c.inChannels / c.groups) * c.taps());
    const int32_t xz = zeroPoint(random, xSigned);
    const auto wz = zeroPoints(random, wSigned, c.outChannels);
    std::vector<int32_t> planes(size_t(c.batch * c.outChannels * c.outPositions()));
    integerConvReference(c, { x.data(), xSigned }, xz, { w.data(), wSigned }, wz, planes.data());

    const auto turned = channelsLast(x, c.batch, c.inChannels, c.inPositions());
    const auto packed = packConvWeights(c, { w.data(), wSigned }, wz);
    const int64_t half = c.outPositions() / 2;
    std::vector<int16_t> scratch(size_t(integerConvScratch(c, c.outPositions())) + 1);
    std::vector<int32_t> sums(size_t(c.outPositions() * c.outChannels));
    for (int64_t b = 0; b < c.batch; ++b) {
        const Codes image { turned.data() + b * c.inChannels * c.inPositions(), xSigned };
        integerConvRows(c, image, xz, packed, 0, half, scratch.data(), sums.data());
        integerConvRows(
            c, image, xz, packed, half, c.outPositions() - half, scratch.data(), sums.data() + half * c.outChannels);
        for (int64_t m = 0; m < c.outChannels; ++m)
            for (int64_t p = 0; p < c.outPositions(); ++p)
                QCOMPARE(sums[size_t(p * c.outChannels + m)],
                    planes[size_t((b * c.outChannels + m) * c.outPositions() + p)]);
    }
}

void IntegerProductTests::requantizesByHand()
{
    // Ties go to even before the zero point is added: 0.5 -> 0, 1.5 -> 2, -0.5 -> 0.
    const std::vector<int32_t> sums { 1, 3, -1, 1000, -1000 }, bias { 0, 0, 0, 0, 0 };
    const std::vector<float> half { 0.5f };
    std::vector<uint8_t> out(5);
    requantizeReference(sums.data(), 1, 5, { half, bias, 5, 0, 255 }, out.data());
    QCOMPARE(out, (std::vector<uint8_t> { 5, 7, 5, 255, 0 }));
}

void IntegerProductTests::requantizeEqualsReference()
{
    for (uint32_t seed = 0; seed < 60; ++seed) {
        RandomData random { seed };
        const int64_t rows = random.integer(1, 5), columns = random.integer(1, 70);
        auto sums = random.integers<int32_t>(rows * columns, -200000, 200000);
        sums[0] = std::numeric_limits<int32_t>::max();
        sums.back() = std::numeric_limits<int32_t>::min();
        const auto bias = random.integers<int32_t>(random.integer(0, 1) ? columns : 0, -30000, 30000);
        std::vector<float> multiplier(random.integer(0, 1) ? size_t(columns) : 1);
        for (float& m : multiplier) // halves make ties
            m = random.integer(0, 1) ? 0.5f / float(1 << random.integer(0, 12)) : float(random.integer(1, 1000)) / 1e6f;
        const bool isSigned = random.integer(0, 1);
        const Requantization q { multiplier, bias, zeroPoint(random, isSigned), isSigned ? -128 : 0,
            isSigned ? 127 : 255 };
        std::vector<uint8_t> expected(sums.size()), out(sums.size());
        requantizeReference(sums.data(), rows, columns, q, expected.data());
        requantize(sums.data(), rows, columns, q, out.data());
        QVERIFY2(out == expected, qPrintable(QString("seed %1").arg(seed)));
    }
}

int runIntegerProductTests(int argc, char** argv)
{
    IntegerProductTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "integer_product_test.moc"
