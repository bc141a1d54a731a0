// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/codes/block_codes.h"
#include "tests/kernels/random_data.h"
#include "tests/kernels/runners.h"

#include <QTest>

#include <cmath>
#include <limits>

using namespace qs;
using qs::test::RandomData;

namespace {

constexpr unsigned kSeed = 20261121;

/// Random weights; the zero points reach both ends of the codes.
struct Weights {
    std::vector<uint8_t> codes;
    std::vector<float> scale, zeroPoint;
    BlockCodes view;

    Weights(int64_t rows, int64_t depth, int64_t blockSize, int bits)
    {
        RandomData random(kSeed);
        const int64_t blocks = (depth + blockSize - 1) / blockSize;
        codes = random.integers<uint8_t>(rows * blocks * blockSize, 0, (1 << bits) - 1);
        scale = random.floats(rows * blocks);
        zeroPoint = random.integers<float>(rows * blocks, 0, (1 << bits) - 1);
        zeroPoint[0] = 0;
        zeroPoint.back() = float((1 << bits) - 1);
        view = { codes.data(), scale.data(), zeroPoint.data(), nullptr, rows, depth, blocks, blockSize };
    }
};

} // namespace

class BlockCodesTest : public QObject {
    Q_OBJECT
private slots:
    void dequantizes();
    void followsGroups();
    void quantizesRows();
    void multiplies_data();
    void multiplies();
    void tables();
};

void BlockCodesTest::dequantizes()
{
    const Weights w(3, 37, 16, 4);
    std::vector<float> out(3 * 37);
    dequantizeBlocks(w.view, out.data());
    for (int64_t r = 0; r < 3; ++r)
        for (int64_t k = 0; k < 37; ++k) {
            const size_t block = size_t(r * 3 + k / 16);
            QCOMPARE(
                out[size_t(k * 3 + r)], (float(w.codes[size_t(r * 48 + k)]) - w.zeroPoint[block]) * w.scale[block]);
        }
}

void BlockCodesTest::followsGroups()
{
    Weights w(2, 32, 16, 4);
    std::vector<int32_t> group(32);
    for (size_t k = 0; k < group.size(); ++k)
        group[k] = int32_t(k % 2);
    w.view.group = group.data();
    std::vector<float> out(2 * 32);
    dequantizeBlocks(w.view, out.data());
    for (size_t k = 0; k < 32; ++k)
        QCOMPARE(out[k * 2 + 1], (float(w.codes[32 + k]) - w.zeroPoint[2 + k % 2]) * w.scale[2 + k % 2]);
}

void BlockCodesTest::quantizesRows()
{
    // 127 steps to each side, ties to even, a block of zeros, and the rest of the last block.
    std::vector<float> x(40, 0.0f);
    x[0] = -127, x[1] = 0.5f, x[2] = 1.5f, x[3] = 126.5f;
    x[32] = 2.54f, x[33] = -1.27f;
    std::vector<int8_t> codes(48, 99);
    std::vector<float> scale(3);
    quantizeBlocks(x.data(), 40, 16, codes.data(), scale.data());
    QCOMPARE(scale, std::vector<float>({ 1, 0, 2.54f / 127 }));
    QCOMPARE(codes[0], int8_t(-127));
    QCOMPARE(codes[1], int8_t(0));
    QCOMPARE(codes[2], int8_t(2));
    QCOMPARE(codes[3], int8_t(126));
    QCOMPARE(codes[16], int8_t(0));
    QCOMPARE(codes[32], int8_t(127));
    QVERIFY(codes[33] == -63 || codes[33] == -64);
    QCOMPARE(codes[47], int8_t(0));
    x[1] = std::numeric_limits<float>::quiet_NaN();
    x[20] = std::numeric_limits<float>::infinity();
    quantizeBlocks(x.data(), 40, 16, codes.data(), scale.data());
    QCOMPARE(codes[1], int8_t(0));
    QCOMPARE(codes[20], int8_t(0));
}

void BlockCodesTest::multiplies_data()
{
    QTest::addColumn<int>("rows");
    QTest::addColumn<int>("depth");
    QTest::addColumn<int>("block");
    QTest::addColumn<int>("bits");
    for (int bits : { 2, 4, 8 })
        for (int block : { 16, 32, 64, 128, 256 })
            for (int depth : { 1, 15, 16, 17, 255, 300 })
                QTest::addRow("%d bits, blocks of %d, depth %d", bits, block, depth) << 7 << depth << block << bits;
}

void BlockCodesTest::multiplies()
{
    QFETCH(int, rows);
    QFETCH(int, depth);
    QFETCH(int, block);
    QFETCH(int, bits);
    const Weights weights(rows, depth, block, bits);
    const WideBlocks w = widenBlocks(weights.view);
    RandomData random(kSeed + 1);
    std::vector<float> x = random.floats(depth);
    std::vector<int8_t> codes(size_t(w.blocks * block));
    std::vector<float> scale(static_cast<size_t>(w.blocks));
    quantizeBlocks(x.data(), depth, block, codes.data(), scale.data());
    for (size_t i = 0; i < codes.size(); i += 3) // extremes
        codes[i] = int8_t(i % 2 ? -127 : 127);
    std::vector<float> fast(static_cast<size_t>(rows)), reference(static_cast<size_t>(rows));
    multiplyBlocks(codes.data(), scale.data(), w, fast.data());
    multiplyBlocksReference(codes.data(), scale.data(), w, reference.data());
    QVERIFY2(fast == reference, qPrintable(QStringLiteral("seed %1").arg(kSeed)));
}

void BlockCodesTest::tables()
{
    const float* nf4 = tableValues(FloatTable::Nf4);
    for (int i = 1; i < 16; ++i)
        QVERIFY(nf4[i] > nf4[i - 1]);
    QCOMPARE(nf4[7], 0.0f);
    const float* fp4 = tableValues(FloatTable::Fp4);
    for (int i = 0; i < 8; ++i)
        QCOMPARE(fp4[i + 8], -fp4[i]);
    QCOMPARE(fp4[3], 1.0f);
}

int runBlockCodesTests(int argc, char** argv)
{
    BlockCodesTest test;
    return QTest::qExec(&test, argc, argv);
}

#include "block_codes_test.moc"
