// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/elementwise/binary.h"
#include "core/kernels/elementwise/broadcast.h"
#include "core/kernels/elementwise/unary.h"
#include "core/kernels/movement/element_io.h"
#include "core/kernels/text_ml/text_numbers.h"

#include <QTest>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>

using namespace qs;

namespace {

constexpr unsigned kSeed = 20240;

std::vector<float> samples(size_t n)
{
    std::mt19937 random(kSeed);
    std::normal_distribution<float> normal(0, 8);
    std::vector<float> x { 0.0f, -0.0f, 1.0f, -1.0f, 3.0f, -3.0f, 0.5f, -0.5f, 88.0f, -88.0f, 1e30f, -1e30f, 1e-30f,
        std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
        std::numeric_limits<float>::quiet_NaN() };
    while (x.size() < n)
        x.push_back(normal(random));
    x.resize(n);
    return x;
}

bool sameBits(float a, float b)
{
    return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b) || (std::isnan(a) && std::isnan(b));
}

/// Functions whose inner sum cancels: float32 keeps an absolute, not a relative error there.
bool cancels(UnaryOp op)
{
    return op == UnaryOp::HardSigmoid || op == UnaryOp::HardSwish || op == UnaryOp::Gelu || op == UnaryOp::GeluTanh;
}

bool close(float a, double b, double relative, double absolute)
{
    if (std::isnan(b) || std::isinf(b) || std::fabs(b) > std::numeric_limits<float>::max())
        return sameBits(a, static_cast<float>(b));
    return std::fabs(a - b) <= relative * std::fabs(b) + absolute;
}

} // namespace

class ElementwiseTest : public QObject {
    Q_OBJECT
private slots:
    void unaryMatchesReference_data();
    void unaryMatchesReference();
    void unaryDoesNotDependOnPlace();
    void binaryMatchesReference_data();
    void binaryMatchesReference();
    void integerCorners();
    void signedRemainders();
    void conversionsWrapAndTruncate();
    void packedElementsRoundTrip();
    void doubleToHalfRoundsOnce();
    void broadcastVisitsEveryElement();
    void numbersAsText();
};

void ElementwiseTest::unaryMatchesReference_data()
{
    QTest::addColumn<int>("op");
    QTest::addColumn<double>("absolute");
    for (int op = 0; op < static_cast<int>(UnaryOp::Not); ++op)
        QTest::addRow("op %d", op) << op << (cancels(static_cast<UnaryOp>(op)) ? 1e-6 : 1e-37);
}

void ElementwiseTest::unaryMatchesReference()
{
    QFETCH(int, op);
    QFETCH(double, absolute);
    UnaryParams p;
    p.a = 0.3f;
    p.b = 0.6f;
    p.low = -1.5f;
    p.high = 2.25f;
    for (size_t n : { 0, 1, 3, 7, 8, 9, 31, 64, 1000 }) {
        const std::vector<float> x = samples(n);
        std::vector<float> y(n + 1, -77.0f);
        unaryFast(static_cast<UnaryOp>(op), p, x.data(), y.data(), n);
        const std::vector<double> wide(x.begin(), x.end());
        std::vector<double> wanted(n);
        unaryReference(static_cast<UnaryOp>(op), p, wide.data(), wanted.data(), n);
        for (size_t i = 0; i < n; ++i)
            QVERIFY2(close(y[i], wanted[i], 1e-6, absolute),
                qPrintable(QString("n %1 x %2: %3, not %4").arg(n).arg(x[i]).arg(y[i]).arg(wanted[i])));
        QCOMPARE(y[n], -77.0f);
    }
}

void ElementwiseTest::unaryDoesNotDependOnPlace()
{
    const std::vector<float> x = samples(40);
    UnaryParams p;
    p.a = 1;
    for (UnaryOp op : { UnaryOp::Sigmoid, UnaryOp::Swish, UnaryOp::HardSwish, UnaryOp::Sqrt }) {
        std::vector<float> all(40), single(40);
        unaryFast(op, p, x.data(), all.data(), 40);
        for (size_t i = 0; i < 40; ++i)
            unaryFast(op, p, x.data() + i, single.data() + i, 1);
        for (size_t i = 0; i < 40; ++i)
            QVERIFY(sameBits(all[i], single[i]));
    }
}

void ElementwiseTest::binaryMatchesReference_data()
{
    QTest::addColumn<int>("op");
    for (int op = 0; op < static_cast<int>(BinaryOp::And); ++op)
        QTest::addRow("op %d", op) << op;
}

void ElementwiseTest::binaryMatchesReference()
{
    QFETCH(int, op);
    for (size_t n : { 0, 1, 5, 8, 13, 64, 333 })
        for (int strides = 0; strides < 4; ++strides) {
            std::vector<float> a = samples(std::max<size_t>(n, 1)), b = a;
            std::rotate(b.begin(), b.begin() + static_cast<std::ptrdiff_t>(b.size() / 2), b.end());
            const Run<float> ra { a.data(), size_t(strides & 1) }, rb { b.data(), size_t(strides >> 1) };
            std::vector<float> fast(n), wanted(n);
            binaryFast(static_cast<BinaryOp>(op), ra, rb, fast.data(), n);
            binaryReference(static_cast<BinaryOp>(op), ra, rb, wanted.data(), n);
            for (size_t i = 0; i < n; ++i)
                QVERIFY2(sameBits(fast[i], wanted[i]) || fast[i] == wanted[i],
                    qPrintable(QString("n %1 i %2: %3, not %4").arg(n).arg(i).arg(fast[i]).arg(wanted[i])));
        }
}

void ElementwiseTest::integerCorners()
{
    const int64_t lowest = std::numeric_limits<int64_t>::min();
    const std::vector<int64_t> a { lowest, 7, 5, 2, 2, lowest }, b { -1, 0, -2, 62, -1, 1 };
    std::vector<int64_t> y(a.size());
    const auto run = [&](BinaryOp op) {
        binaryReference<int64_t>(op, { a.data(), 1 }, { b.data(), 1 }, y.data(), y.size());
        return y;
    };
    QCOMPARE(run(BinaryOp::Div)[0], lowest);
    QCOMPARE(run(BinaryOp::Div)[1], int64_t(0));
    QCOMPARE(run(BinaryOp::Div)[2], int64_t(-2));
    QCOMPARE(run(BinaryOp::Pow)[3], int64_t(1) << 62);
    QCOMPARE(run(BinaryOp::Pow)[4], int64_t(0));
    QCOMPARE(run(BinaryOp::Add)[5], lowest + 1);
    QCOMPARE(run(BinaryOp::ModFloor)[0], int64_t(0));
    QCOMPARE(run(BinaryOp::ModTruncate)[0], int64_t(0));
}

void ElementwiseTest::signedRemainders()
{
    const std::vector<int64_t> a { 7, -7, 7, -7 }, b { 3, 3, -3, -3 };
    std::vector<int64_t> floored(4), truncated(4);
    binaryReference<int64_t>(BinaryOp::ModFloor, { a.data(), 1 }, { b.data(), 1 }, floored.data(), 4);
    binaryReference<int64_t>(BinaryOp::ModTruncate, { a.data(), 1 }, { b.data(), 1 }, truncated.data(), 4);
    QCOMPARE(floored, (std::vector<int64_t> { 1, 2, -2, -1 }));
    QCOMPARE(truncated, (std::vector<int64_t> { 1, -1, 1, -1 }));
}

void ElementwiseTest::conversionsWrapAndTruncate()
{
    const std::vector<float> x { 2.9f, -2.9f, 300.7f, -300.0f, 1e20f, std::numeric_limits<float>::quiet_NaN() };
    std::vector<uint8_t> u8(x.size());
    storeElements(DType::UInt8, reinterpret_cast<std::byte*>(u8.data()), 0, x.data(), x.size());
    QCOMPARE(u8, (std::vector<uint8_t> { 2, 254, 44, 212, 0, 0 }));
    std::vector<int32_t> i32(x.size());
    storeElements(DType::Int32, reinterpret_cast<std::byte*>(i32.data()), 0, x.data(), x.size());
    const int32_t lowest = std::numeric_limits<int32_t>::min();
    QCOMPARE(i32, (std::vector<int32_t> { 2, -2, 300, -300, lowest, lowest }));
    const std::vector<double> big { 18446744073709549568.0, 9223372036854775808.0, -1.0 };
    std::vector<uint64_t> u64(big.size());
    storeElements(DType::UInt64, reinterpret_cast<std::byte*>(u64.data()), 0, big.data(), big.size());
    QCOMPARE(u64, (std::vector<uint64_t> { 18446744073709549568u, 1ull << 63, ~0ull }));
    const std::vector<int64_t> ints { 128, -129, 65536 };
    std::vector<int8_t> i8(ints.size());
    storeElements(DType::Int8, reinterpret_cast<std::byte*>(i8.data()), 0, ints.data(), ints.size());
    QCOMPARE(i8, (std::vector<int8_t> { -128, 127, 0 }));
}

void ElementwiseTest::packedElementsRoundTrip()
{
    for (DType type : { DType::Int4, DType::UInt4, DType::Int2, DType::UInt2 }) {
        const CodeRange range = *codeRange(type);
        std::vector<int64_t> codes;
        for (int64_t c = range.low; c <= range.high; ++c)
            codes.push_back(c);
        codes.push_back(range.high); // an odd count
        std::vector<std::byte> bytes(storageBytes(type, codes.size()), std::byte(0xaa));
        storeElements(type, bytes.data(), 0, codes.data(), codes.size());
        std::vector<int64_t> back(codes.size());
        loadElements(type, bytes.data(), 0, back.data(), back.size());
        QCOMPARE(back, codes);
        loadElements(type, bytes.data(), 1, back.data(), 2);
        QCOMPARE(back[0], codes[1]);
    }
}

void ElementwiseTest::doubleToHalfRoundsOnce()
{
    // Just above the middle of 1 and the next float16; a float in between would fall on the middle, then on 1.
    const double x = 1 + std::ldexp(1.0, -11) + std::ldexp(1.0, -40);
    uint16_t half = 0;
    storeElements(DType::Float16, reinterpret_cast<std::byte*>(&half), 0, &x, 1);
    QCOMPARE(half, uint16_t(0x3c01));
}

void ElementwiseTest::broadcastVisitsEveryElement()
{
    std::mt19937 random(kSeed);
    for (int round = 0; round < 200; ++round) {
        const size_t rank = random() % 5;
        Shape out(rank);
        for (int64_t& d : out)
            d = int64_t(random() % 4) + (random() % 20 ? 1 : 0);
        std::vector<Shape> operands(2);
        for (Shape& s : operands) {
            const size_t skipped = rank ? random() % (rank + 1) : 0;
            for (size_t i = skipped; i < rank; ++i)
                s.push_back(random() % 3 ? out[i] : 1);
        }
        const BroadcastLoop loop = makeBroadcastLoop(operands, out);
        const auto total = static_cast<size_t>(*elementCount(out));
        const std::vector<int64_t> outStrides = rowMajorStrides(out);
        std::vector<int> visits(total, 0);
        forEachRun(loop, [&](std::span<const size_t> offsets, size_t outOffset) {
            for (size_t i = 0; i < loop.runLength(); ++i) {
                const size_t at = outOffset + i;
                ++visits[at];
                for (size_t k = 0; k < 2; ++k) {
                    const std::vector<int64_t> own = rowMajorStrides(operands[k]);
                    size_t wanted = 0;
                    for (size_t d = 0; d < operands[k].size(); ++d) {
                        const size_t axis = d + rank - operands[k].size();
                        const auto index = int64_t(at) / outStrides[axis] % out[axis];
                        wanted += static_cast<size_t>(operands[k][d] == 1 ? 0 : index * own[d]);
                    }
                    QCOMPARE(offsets[k] + i * loop.innerStride(k), wanted);
                }
            }
        });
        QVERIFY(std::all_of(visits.begin(), visits.end(), [](int v) { return v == 1; }));
    }
}

void ElementwiseTest::numbersAsText()
{
    QCOMPARE(floatText(0.1f, DType::Float32), std::string("0.1"));
    QCOMPARE(floatText(0.1, DType::Float64), std::string("0.1"));
    QCOMPARE(floatText(-INFINITY, DType::Float32), std::string("-INF"));
    QCOMPARE(*textToDouble(" +1e3 "), 1000.0);
    QVERIFY(std::isinf(*textToDouble("INF")) && std::isnan(*textToDouble("NaN")));
    QCOMPARE(*textToInt("-42"), int64_t(-42));
    QVERIFY(!textToDouble("12x") && !textToDouble("") && !textToInt("1.5"));
}

int runElementwiseTests(int argc, char** argv)
{
    ElementwiseTest test;
    return QTest::qExec(&test, argc, argv);
}

#include "elementwise_test.moc"
