// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/blocks/block_dots.h"
#include "core/kernels/blocks/block_rows.h"
#include "core/kernels/codes/dot_product.h"
#include "core/tensor/packed_rows.h"
#include "tests/kernels/random_data.h"
#include "tests/kernels/runners.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

using namespace qs;
using qs::test::RandomData;

namespace {

constexpr unsigned kSeed = 20261121;

enum class ZeroPoints { One, Codes, Real };

/// Random weights; the zero points reach both ends of the codes.
struct Weights {
    std::vector<uint8_t> codes, bytes;
    std::vector<float> scale, zeroPoint;
    BlockCodes view;
    StoredBlocks stored;

    Weights(int64_t rows, int64_t depth, int64_t blockSize, int bits, ZeroPoints zeroPoints = ZeroPoints::Codes)
    {
        RandomData random(kSeed);
        const int64_t blocks = (depth + blockSize - 1) / blockSize;
        codes = random.integers<uint8_t>(rows * blocks * blockSize, 0, (1 << bits) - 1);
        scale = random.floats(rows * blocks);
        zeroPoint = random.integers<float>(rows * blocks, 0, (1 << bits) - 1);
        zeroPoint[0] = 0;
        zeroPoint.back() = float((1 << bits) - 1);
        if (zeroPoints == ZeroPoints::One)
            std::ranges::fill(zeroPoint, float(1 << (bits - 1)));
        if (zeroPoints == ZeroPoints::Real)
            zeroPoint[0] = 0.25f;
        view = { codes.data(), scale.data(), zeroPoint.data(), nullptr, rows, depth, blocks, blockSize };
        bytes = packRows(codes, rows, blocks * blockSize, bits);
        stored = { bytes.data(), bits, scale.data(), zeroPoint.data(), rows, depth, blocks, blockSize };
    }
};

} // namespace

class BlockCodesTest : public QObject {
    Q_OBJECT
private slots:
    void dequantizes();
    void followsGroups();
    void quantizesRows();
    void codesRowsAlike();
    void packs_data() { multiplies_data(); }
    void packs();
    void multiplies_data();
    void multiplies();
    void multipliesFloats_data() { multiplies_data(); }
    void multipliesFloats();
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
    x[32] = 2.75f, x[33] = -1.375f; // half a step: by 127 / 2.75, not by the inverse of the scale, a little more
    std::vector<int8_t> codes(48, 99);
    std::vector<float> scale(3);
    quantizeBlocks(x.data(), 40, 16, codes.data(), scale.data());
    QCOMPARE(scale, std::vector<float>({ 1, 0, 2.75f / 127 }));
    QCOMPARE(codes[0], int8_t(-127));
    QCOMPARE(codes[1], int8_t(0));
    QCOMPARE(codes[2], int8_t(2));
    QCOMPARE(codes[3], int8_t(126));
    QCOMPARE(codes[16], int8_t(0));
    QCOMPARE(codes[32], int8_t(127));
    QCOMPARE(codes[33], int8_t(-64));
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
                QTest::addRow("%d bits, blocks of %d, depth %d", bits, block, depth)
                    << (depth % 2 ? 7 : 101) << depth << block << bits;
}

void BlockCodesTest::packs()
{
    QFETCH(int, rows);
    QFETCH(int, depth);
    QFETCH(int, block);
    QFETCH(int, bits);
    const Weights w(rows, depth, block, bits);
    BlockPanels p = panelsWithoutCodes(w.stored);
    packCodes(w.stored, 0, rows / 2, p);
    packCodes(w.stored, rows / 2, rows, p);
    QVERIFY(p.codes == packBlocks(w.stored).codes);
    for (int64_t r = 0; r < rows; ++r)
        for (int64_t k = 0; k < depth; ++k) {
            const int64_t b = k / block;
            QCOMPARE(p.code(r, k), int(w.codes[size_t(r * w.view.blocks * block + k)]));
            QCOMPARE(p.scaleOf(r, b), w.scale[size_t(r * w.view.blocks + b)]);
            QCOMPARE(p.zeroPointOf(r, b), w.zeroPoint[size_t(r * w.view.blocks + b)]);
        }
}

void BlockCodesTest::multiplies()
{
    QFETCH(int, rows);
    QFETCH(int, depth);
    QFETCH(int, block);
    QFETCH(int, bits);
    for (int rowsOfA : { 1, 3, 8, 9 })
        for (const ZeroPoints zeroPoints : { ZeroPoints::One, ZeroPoints::Codes }) {
            const Weights weights(rows, depth, block, bits, zeroPoints);
            const BlockPanels w = packBlocks(weights.stored);
            QCOMPARE(w.zeroCode.empty(), zeroPoints == ZeroPoints::One);
            QVERIFY(w.zeroPoint.empty());
            RandomData random(kSeed + 1);
            const std::vector<float> x = random.floats(rowsOfA * depth);
            CodedRows a(rowsOfA, w.blocks, block);
            for (int row = 0; row < rowsOfA; ++row)
                codeRow(x.data() + row * depth, depth, row, a);
            std::vector<float> fast(size_t(rowsOfA * rows), -1), reference = fast;
            multiplyCodes(a, w, 0, w.panels(), fast.data());
            multiplyCodesReference(a, w, 0, w.panels(), reference.data());
            QVERIFY2(fast == reference, qPrintable(QStringLiteral("seed %1").arg(kSeed)));
        }
}

void BlockCodesTest::codesRowsAlike()
{
    RandomData random(kSeed + 2);
    for (int depth : { 1, 16, 37, 300 })
        for (int block : { 16, 32, 128 }) {
            std::vector<float> x = random.floats(depth);
            for (size_t i = 0; i < x.size(); i += 5)
                x[i] = float(int(i) % 255 - 127) + 0.5f; // ties, where the largest is 127
            x[0] = depth == 37 ? std::numeric_limits<float>::quiet_NaN() : -127;
            x.back() = depth == 300 ? std::numeric_limits<float>::infinity() : 127.0f;
            const int64_t blocks = (depth + block - 1) / block;
            std::vector<int8_t> codes(size_t(blocks * block), 99);
            std::vector<float> scale(static_cast<size_t>(blocks));
            quantizeBlocks(x.data(), depth, block, codes.data(), scale.data());
            CodedRows fast(2, blocks, block);
            codeRow(x.data(), depth, 1, fast);
            QCOMPARE(std::vector<int8_t>(fast.codes.begin() + blocks * block, fast.codes.end()), codes);
            QCOMPARE(std::vector<float>(fast.scale.begin() + blocks, fast.scale.end()), scale);
            for (int64_t b = 0; b < blocks; ++b)
                QCOMPARE(fast.sum[size_t(blocks + b)],
                    std::accumulate(codes.begin() + b * block, codes.begin() + (b + 1) * block, 0));
        }
}

void BlockCodesTest::multipliesFloats()
{
    QFETCH(int, rows);
    QFETCH(int, depth);
    QFETCH(int, block);
    QFETCH(int, bits);
    if (!hasBlockRows())
        QSKIP("this CPU has no fused multiplication and addition");
    for (int rowsOfX : { 1, 3, 4, 13 }) {
        const auto zeroPoints = rowsOfX == 3 ? ZeroPoints::One : rowsOfX == 13 ? ZeroPoints::Real : ZeroPoints::Codes;
        const Weights weights(rows, depth, block, bits, zeroPoints);
        const BlockPanels w = packBlocks(weights.stored);
        QCOMPARE(w.zeroPoint.empty(), zeroPoints != ZeroPoints::Real);
        std::vector<float> dense(size_t(depth * rows));
        dequantizeBlocks(weights.view, dense.data());
        RandomData random(kSeed + 3);
        const std::vector<float> x = random.floats(rowsOfX * depth);
        std::vector<float> y(size_t(rowsOfX * rows), -1), wanted(y.size(), 0);
        for (int m = 0; m < rowsOfX; ++m)
            for (int k = 0; k < depth; ++k)
                for (int r = 0; r < rows; ++r) {
                    float& sum = wanted[size_t(m * rows + r)];
                    sum = std::fma(x[size_t(m * depth + k)], dense[size_t(k * rows + r)], sum);
                }
        multiplyBlockRows(x.data(), rowsOfX, w, 0, w.panels(), y.data());
        QVERIFY2(y == wanted, qPrintable(QStringLiteral("seed %1, %2 rows").arg(kSeed).arg(rowsOfX)));
    }
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
