// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/tensor/buffer_pool.h"
#include "core/tensor/convert.h"
#include "core/tensor/packed_rows.h"
#include "core/tensor/quant_params.h"
#include "tests/support/helper_call.h"

#include <QTest>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>
#include <random>
#include <set>
#include <thread>

using namespace qs;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// A binary float format as a standard writes it down. Decoding here goes bit by bit in double, unlike in the library.
struct Format {
    DType type;
    int exponentBits;
    int mantissaBits;
    int bias;
    enum Special { Ieee, NanOnly, FiniteUnsignedZero, Finite } special;
};

constexpr Format kFloat16 { DType::Float16, 5, 10, 15, Format::Ieee };
constexpr Format kBFloat16 { DType::BFloat16, 8, 7, 127, Format::Ieee };
constexpr Format kSmall[] = {
    { DType::Float8E4M3FN, 4, 3, 7, Format::NanOnly },
    { DType::Float8E4M3FNUZ, 4, 3, 8, Format::FiniteUnsignedZero },
    { DType::Float8E5M2, 5, 2, 15, Format::Ieee },
    { DType::Float8E5M2FNUZ, 5, 2, 16, Format::FiniteUnsignedZero },
    { DType::Float4E2M1, 2, 1, 1, Format::Finite },
};

double naiveDecode(const Format& f, unsigned code)
{
    const int bits = 1 + f.exponentBits + f.mantissaBits;
    const bool negative = (code >> (bits - 1)) & 1;
    unsigned exponent = 0, mantissa = 0;
    for (int b = 0; b < f.mantissaBits; ++b)
        mantissa += ((code >> b) & 1) << b;
    for (int b = 0; b < f.exponentBits; ++b)
        exponent += ((code >> (f.mantissaBits + b)) & 1) << b;
    const bool topExponent = exponent == (1u << f.exponentBits) - 1;
    if (f.special == Format::Ieee && topExponent)
        return mantissa != 0 ? double(kNan) : negative ? -kInfinity : kInfinity;
    if (f.special == Format::NanOnly && topExponent && mantissa == (1u << f.mantissaBits) - 1)
        return double(kNan);
    if (f.special == Format::FiniteUnsignedZero && negative && exponent == 0 && mantissa == 0)
        return double(kNan);
    double fraction = exponent == 0 ? 0.0 : 1.0;
    for (int b = 0; b < f.mantissaBits; ++b)
        if ((mantissa >> b) & 1)
            fraction += std::pow(0.5, f.mantissaBits - b);
    const double value = fraction * std::pow(2.0, double(exponent == 0 ? 1 : int(exponent)) - f.bias);
    return negative ? -value : value;
}

bool sameValue(double a, double b)
{
    return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

/// Every finite neighbour pair of a format, met from both sides and exactly half way.
template <class Encode> void checkRounding(const Format& f, unsigned signBit, Encode encode)
{
    for (unsigned code = 0; code + 1 < signBit; ++code) {
        const double low = naiveDecode(f, code), high = naiveDecode(f, code + 1);
        if (!std::isfinite(low) || !std::isfinite(high))
            continue;
        const auto middle = float((low + high) / 2);
        const unsigned even = code % 2 == 0 ? code : code + 1;
        const bool exact = double(middle) == (low + high) / 2;
        for (unsigned sign : { 0u, signBit }) {
            auto coded = [&](float v) { return encode(sign ? -v : v); };
            const bool noMinusZero = f.special == Format::FiniteUnsignedZero;
            auto expected = [&](unsigned c) { return c == 0 && noMinusZero ? 0u : (c | sign); };
            QCOMPARE(coded(float(low)), expected(code));
            QCOMPARE(coded(float(high)), expected(code + 1));
            if (!exact || middle == float(low) || middle == float(high))
                continue; // half way is no float32 (below the least bfloat16)
            QCOMPARE(coded(middle), expected(even));
            QCOMPARE(coded(std::nextafter(middle, 0.0f)), expected(code));
            QCOMPARE(coded(std::nextafter(middle, INFINITY)), expected(code + 1));
        }
    }
}

Tensor randomTensor(std::mt19937& random, DType type, Shape shape)
{
    Tensor t = Tensor::allocate(type, std::move(shape));
    auto bytes = std::span(t.fill<uint8_t>().data(), t.byteCount());
    for (uint8_t& b : bytes)
        b = static_cast<uint8_t>(random());
    return t;
}

std::vector<std::byte> bytesOf(const Tensor& t) { return { t.bytes().begin(), t.bytes().end() }; }

} // namespace

class TensorTests : public QObject {
    Q_OBJECT
private slots:
    void typeTable();
    void storageOfPackedTypes();
    void sizesThatNoMemoryHolds();
    void shapes();
    void broadcasting();
    void quantParamsGiveRealRange();
    void halfPrecision();
    void brainFloat();
    void smallFloatsDecode();
    void smallFloatsRound();
    void smallFloatsOverflow();
    void powersOfTwo();
    void packedCodes();
    void packedRows();
    void elementsOfEveryType();
    void layoutsRoundTrip();
    void unalignedStorage();
    void sharedStorage();
    void stringTensors();
    void poolReusesStorage();
    void poolTakesBackFromAnyThread();
    void tensorsOutliveThePool();
    void poolKeepsItsLimit();
    void poolConvertsLayouts();
};

void TensorTests::typeTable()
{
    QCOMPARE(dtypeName(DType::Float32), std::string_view("float32"));
    QCOMPARE(dtypeName(DType::Float8E5M2FNUZ), std::string_view("float8e5m2fnuz"));
    QCOMPARE(dtypeName(static_cast<DType>(99)), std::string_view("undefined"));
    QCOMPARE(dtypeBits(static_cast<DType>(99)), size_t(0));
    for (int i = 1; i <= 26; ++i) {
        const auto type = static_cast<DType>(i);
        QVERIFY(!(isFloat(type) && isInteger(type)));
        const std::string name(dtypeName(type));
        QCOMPARE(isFloat(type), name.starts_with("float") || name == "bfloat16");
        QCOMPARE(isInteger(type), name.starts_with("int") || name.starts_with("uint"));
        if (isInteger(type)) {
            QCOMPARE(dtypeBits(type), std::stoul(name.substr(name.find("int") + 3)));
            QCOMPARE(isSigned(type), name[0] == 'i');
            QCOMPARE(codeRange(type).has_value(), dtypeBits(type) <= 32);
        }
    }
    QCOMPARE(codeRange(DType::Int8)->low, int64_t(-128));
    QCOMPARE(codeRange(DType::Int8)->high, int64_t(127));
    const std::vector<std::pair<DType, std::pair<double, double>>> values { { DType::Int8, { -128, 127 } },
        { DType::UInt4, { 0, 15 } }, { DType::Float8E4M3FN, { -448, 448 } }, { DType::Float8E4M3FNUZ, { -240, 240 } },
        { DType::Float8E5M2, { -57344, 57344 } }, { DType::Float8E5M2FNUZ, { -57344, 57344 } },
        { DType::Float4E2M1, { -6, 6 } }, { DType::Float32, { 0, 0 } }, { DType::Undefined, { 0, 0 } } };
    for (const auto& [type, range] : values)
        QCOMPARE(std::pair(codeValues(type).low, codeValues(type).high), range);
    const QuantParams params { DType::Float8E4M3FN, { 0.5f }, { 0 }, std::nullopt, 0 };
    QCOMPARE(std::pair(params.low(), params.high()), std::pair(-224.0, 224.0));
    QCOMPARE(codeRange(DType::UInt4)->high, int64_t(15));
    QCOMPARE(codeRange(DType::Int2)->low, int64_t(-2));
    QCOMPARE(codeRange(DType::UInt32)->high, int64_t(UINT32_MAX));
    QVERIFY(!codeRange(DType::Int64) && !codeRange(DType::Float32) && !codeRange(DType::Bool));
}

void TensorTests::storageOfPackedTypes()
{
    QCOMPARE(storageBytes(DType::Int4, 0), size_t(0));
    QCOMPARE(storageBytes(DType::Int4, 1), size_t(1));
    QCOMPARE(storageBytes(DType::Int4, 3), size_t(2));
    QCOMPARE(storageBytes(DType::UInt2, 5), size_t(2));
    QCOMPARE(storageBytes(DType::Complex128, 2), size_t(32));
    QCOMPARE(storageBytes(DType::String, 7), size_t(0));
}

void TensorTests::sizesThatNoMemoryHolds()
{
    BufferPool pool;
    for (const Shape& shape :
        { Shape { int64_t(1) << 31, 1 << 30 }, Shape { int64_t(1) << 62, 1 }, Shape { int64_t(1) << 40, 1 << 30 } }) {
        QVERIFY(storageBytes(DType::Float32, size_t(elementCount(shape).value_or(INT64_MAX))) >= size_t(1) << 60);
#ifndef __SANITIZE_ADDRESS__ // which ends the process at such sizes
        QVERIFY_EXCEPTION_THROWN(Tensor::allocate(DType::Float32, shape), std::bad_alloc);
        QVERIFY_EXCEPTION_THROWN(pool.allocate(DType::Float64, shape), std::bad_alloc);
#endif
    }
    QCOMPARE(pool.allocate(DType::Float32, { 3 }).count(), int64_t(3));
}

void TensorTests::shapes()
{
    QCOMPARE(elementCount({}), std::optional<int64_t>(1));
    QCOMPARE(elementCount({ 2, 0, 3 }), std::optional<int64_t>(0));
    QVERIFY(!elementCount({ 2, -1 }));
    QCOMPARE(elementCount({ int64_t(1) << 31, int64_t(1) << 31 }), std::optional(int64_t(1) << 62));
    QVERIFY(!elementCount({ int64_t(1) << 32, int64_t(1) << 31 }));
    QCOMPARE(shapeText({ 1, 3, 224, 224 }), std::string("1x3x224x224"));
    QCOMPARE(shapeText({}), std::string("scalar"));
    QCOMPARE(rowMajorStrides({ 2, 3, 4 }), (std::vector<int64_t> { 12, 4, 1 }));
    QVERIFY(rowMajorStrides({}).empty());
    QCOMPARE(normalizedAxis(-1, 3), std::optional<size_t>(2));
    QCOMPARE(normalizedAxis(-3, 3), std::optional<size_t>(0));
    QVERIFY(!normalizedAxis(3, 3) && !normalizedAxis(-4, 3) && !normalizedAxis(0, 0));
    const Dims dims { { 1, {} }, { -1, "N" }, { -1, {} } };
    QCOMPARE(dimsText(dims), std::string("1xNx?"));
    QCOMPARE(dimsText({}), std::string("scalar"));
    QVERIFY(!toShape(dims));
    QCOMPARE(toShape(toDims({ 4, 5 })), std::optional(Shape { 4, 5 }));
}

void TensorTests::broadcasting()
{
    QCOMPARE(broadcastShapes({ 2, 3 }, {}), std::optional(Shape { 2, 3 }));
    QCOMPARE(broadcastShapes({ 3, 1 }, { 2, 1, 4 }), std::optional(Shape { 2, 3, 4 }));
    QCOMPARE(broadcastShapes({ 1 }, { 0 }), std::optional(Shape { 0 }));
    QVERIFY(!broadcastShapes({ 2, 3 }, { 2 }));
    QVERIFY(!broadcastShapes({ 0 }, { 2 }));
}

void TensorTests::quantParamsGiveRealRange()
{
    const QuantParams p { DType::UInt8, { 0.5f, 2 }, { 128, 0 }, 1, 0 };
    QVERIFY(!p.perTensor());
    QCOMPARE(p.low(), -64.0);
    QCOMPARE(p.high(), 63.5);
    QCOMPARE(p.low(1), 0.0);
    QCOMPARE(p.high(1), 510.0);
}

void TensorTests::halfPrecision()
{
    for (unsigned code = 0; code < 65536; ++code) {
        const float value = float16ToFloat(uint16_t(code));
        QVERIFY2(sameValue(double(value), naiveDecode(kFloat16, code)), qPrintable(QString::number(code, 16)));
        if (std::isnan(value))
            QVERIFY(std::isnan(float16ToFloat(floatToFloat16(value))));
        else
            QCOMPARE(unsigned(floatToFloat16(value)), code);
    }
    QS_HELPER(checkRounding(kFloat16, 0x8000, [](float v) { return unsigned(floatToFloat16(v)); }));
    QCOMPARE(floatToFloat16(65519.996f), uint16_t(0x7bff));
    QCOMPARE(floatToFloat16(65520), uint16_t(0x7c00)); // half way to 65536, which is even
    QCOMPARE(floatToFloat16(-INFINITY), uint16_t(0xfc00));
    QCOMPARE(floatToFloat16(1e-30f), uint16_t(0));
    QCOMPARE(floatToFloat16(-1e-30f), uint16_t(0x8000));
    QVERIFY(std::isnan(float16ToFloat(floatToFloat16(std::bit_cast<float>(0x7f800001u)))));
}

void TensorTests::brainFloat()
{
    for (unsigned code = 0; code < 65536; ++code) {
        const float value = bfloat16ToFloat(uint16_t(code));
        QVERIFY2(sameValue(double(value), naiveDecode(kBFloat16, code)), qPrintable(QString::number(code, 16)));
        if (!std::isnan(value))
            QCOMPARE(unsigned(floatToBFloat16(value)), code);
    }
    QS_HELPER(checkRounding(kBFloat16, 0x8000, [](float v) { return unsigned(floatToBFloat16(v)); }));
    QCOMPARE(floatToBFloat16(std::numeric_limits<float>::max()), uint16_t(0x7f80));
    QVERIFY(std::isnan(bfloat16ToFloat(floatToBFloat16(std::bit_cast<float>(0x7f800001u)))));
}

void TensorTests::smallFloatsDecode()
{
    for (const Format& f : kSmall) {
        const unsigned codes = f.type == DType::Float4E2M1 ? 16 : 256;
        for (unsigned code = 0; code < codes; ++code) {
            const float value = smallFloatToFloat(f.type, uint8_t(code));
            QVERIFY2(sameValue(double(value), naiveDecode(f, code)), qPrintable(QString::number(code, 16)));
            for (bool saturate : { false, true })
                if (std::isfinite(value))
                    QCOMPARE(unsigned(floatToSmallFloat(f.type, value, saturate)), code);
        }
    }
    QCOMPARE(smallFloatToFloat(DType::Float8E4M3FN, 0x7e), 448.0f);
    QCOMPARE(smallFloatToFloat(DType::Float8E5M2, 0x7b), 57344.0f);
    QCOMPARE(smallFloatToFloat(DType::Float4E2M1, 0x7), 6.0f);
}

void TensorTests::smallFloatsRound()
{
    for (const Format& f : kSmall)
        for (bool saturate : { false, true })
            QS_HELPER(checkRounding(f, f.type == DType::Float4E2M1 ? 8 : 128,
                [&](float v) { return unsigned(floatToSmallFloat(f.type, v, saturate)); }));
}

void TensorTests::smallFloatsOverflow()
{
    struct Row {
        DType type;
        float largest, tie; ///< tie: half way to the next value, if there were one
        uint8_t top, over, nan; ///< largest finite code, infinity or NaN of an overflow, code of NaN
        bool tieStays; ///< the top code is even
    };
    const Row rows[] = { { DType::Float8E4M3FN, 448, 464, 0x7e, 0x7f, 0x7f, true },
        { DType::Float8E4M3FNUZ, 240, 248, 0x7f, 0x80, 0x80, false },
        { DType::Float8E5M2, 57344, 61440, 0x7b, 0x7c, 0x7f, false },
        { DType::Float8E5M2FNUZ, 57344, 61440, 0x7f, 0x80, 0x80, false } };
    for (const Row& r : rows) {
        QCOMPARE(floatToSmallFloat(r.type, std::nextafter(r.tie, 0.0f), false), r.top);
        QCOMPARE(floatToSmallFloat(r.type, r.tie, false), r.tieStays ? r.top : r.over);
        QCOMPARE(floatToSmallFloat(r.type, std::nextafter(r.tie, INFINITY), false), r.over);
        for (float huge : { 1e30f, INFINITY }) {
            QCOMPARE(floatToSmallFloat(r.type, huge, true), r.top);
            QCOMPARE(floatToSmallFloat(r.type, -huge, true), uint8_t(r.top | 0x80));
            QCOMPARE(floatToSmallFloat(r.type, huge, false), r.over);
            QCOMPARE(floatToSmallFloat(r.type, -huge, false), uint8_t(r.over | 0x80));
        }
        for (bool saturate : { false, true })
            QCOMPARE(uint8_t(floatToSmallFloat(r.type, kNan, saturate) | (r.nan & 0x80)), r.nan);
    }
    for (bool saturate : { false, true }) {
        QCOMPARE(floatToSmallFloat(DType::Float4E2M1, 1e9f, saturate), uint8_t(7));
        QCOMPARE(floatToSmallFloat(DType::Float4E2M1, -INFINITY, saturate), uint8_t(15));
    }
}

void TensorTests::powersOfTwo()
{
    for (int code = 0; code < 255; ++code) {
        const float value = smallFloatToFloat(DType::Float8E8M0, uint8_t(code));
        QCOMPARE(double(value), std::pow(2.0, code - 127));
        QCOMPARE(int(floatToSmallFloat(DType::Float8E8M0, value, true)), code);
        if (code > 0 && code < 254)
            QCOMPARE(int(floatToSmallFloat(DType::Float8E8M0, value * 1.5f, true)), code + 1);
    }
    QVERIFY(std::isnan(smallFloatToFloat(DType::Float8E8M0, 255)));
    QCOMPARE(floatToSmallFloat(DType::Float8E8M0, kNan, true), uint8_t(255));
    QCOMPARE(floatToSmallFloat(DType::Float8E8M0, -1, true), uint8_t(255));
    QCOMPARE(floatToSmallFloat(DType::Float8E8M0, 0, true), uint8_t(0));
    QCOMPARE(floatToSmallFloat(DType::Float8E8M0, INFINITY, true), uint8_t(254));
}

void TensorTests::packedCodes()
{
    // Lowest bits first.
    const std::vector<std::byte> storage { std::byte(0x8f), std::byte(0x01) };
    const Tensor nibbles = Tensor::wrap(DType::Int4, { 3 }, storage.data(), nullptr);
    QCOMPARE(toInts(nibbles), (std::vector<int64_t> { -1, -8, 1 }));
    QCOMPARE(toInts(nibbles.reinterpreted(DType::UInt4)), (std::vector<int64_t> { 15, 8, 1 }));
    const Tensor pairs = Tensor::wrap(DType::UInt2, { 5 }, storage.data(), nullptr);
    QCOMPARE(toInts(pairs), (std::vector<int64_t> { 3, 3, 0, 2, 1 }));
    QCOMPARE(toInts(pairs.reinterpreted(DType::Int2)), (std::vector<int64_t> { -1, -1, 0, -2, 1 }));

    std::mt19937 random(7);
    for (DType type : { DType::Int4, DType::UInt4, DType::Int2, DType::UInt2, DType::Float4E2M1 })
        for (int64_t count : { 0, 1, 2, 3, 4, 5, 17 }) {
            const Tensor packed = randomTensor(random, type, { count });
            const Tensor codes = unpacked(packed);
            QCOMPARE(codes.dtype(), isInteger(type) && isSigned(type) ? DType::Int8 : DType::UInt8);
            QCOMPARE(toInts(codes).size(), size_t(count));
            if (isInteger(type))
                QCOMPARE(toInts(codes), toInts(packed));
            QCOMPARE(toDoubles(packedAs(codes, type)), toDoubles(packed));
        }
    const Tensor whole = Tensor::of<int8_t>({ 2 }, { 1, 2 });
    QCOMPARE(unpacked(whole).bytes().data(), whole.bytes().data());
}

void TensorTests::packedRows()
{
    const std::vector<uint8_t> codes { 1, 2, 3, 0, 3, 2 };
    QCOMPARE(packRows(codes, 2, 3, 2), (std::vector<uint8_t> { 0x39, 0x2c }));
    QCOMPARE(packRows(codes, 2, 3, 4), (std::vector<uint8_t> { 0x21, 0x03, 0x30, 0x02 }));
    QCOMPARE(packRows(codes, 2, 3, 8), codes);
    for (const int64_t bits : { 2, 4, 8 })
        QCOMPARE(unpackRows(packRows(codes, 2, 3, bits), 2, 3, bits), codes);
}

void TensorTests::elementsOfEveryType()
{
    QCOMPARE(elementAsDouble(Tensor::scalar(2.5), 0), 2.5);
    QCOMPARE(elementAsInt(Tensor::scalar(int64_t(INT64_MIN)), 0), INT64_MIN);
    QCOMPARE(elementAsDouble(Tensor::scalar(uint64_t(UINT64_MAX)), 0), 18446744073709551615.0);
    QCOMPARE(elementAsInt(Tensor::scalar(int16_t(-3)), 0), int64_t(-3));
    QCOMPARE(elementAsInt(Tensor::scalar(uint16_t(65535)), 0), int64_t(65535));
    QCOMPARE(elementAsInt(Tensor::scalar(uint32_t(UINT32_MAX)), 0), int64_t(UINT32_MAX));
    QCOMPARE(elementAsDouble(Tensor::of<uint8_t>({ 2 }, { 0, 7 }).reinterpreted(DType::Bool), 1), 1.0);
    QCOMPARE(elementAsDouble(Tensor::scalar(uint16_t(0x3c00)).reinterpreted(DType::Float16), 0), 1.0);
    QCOMPARE(elementAsDouble(Tensor::scalar(uint16_t(0xbf80)).reinterpreted(DType::BFloat16), 0), -1.0);
    QCOMPARE(elementAsDouble(Tensor::scalar(uint8_t(0x38)).reinterpreted(DType::Float8E4M3FN), 0), 1.0);
    QCOMPARE(toFloats(Tensor::of<int32_t>({ 2 }, { -1, 3 })), (std::vector<float> { -1, 3 }));
}

void TensorTests::layoutsRoundTrip()
{
    std::mt19937 random(11);
    for (const Shape& shape : { Shape { 2, 3, 5, 7 }, Shape { 1, 33, 31 }, Shape { 3, 1, 4, 1, 2 },
             Shape { 2, 65, 3, 11 }, Shape { 1, 0, 4 }, Shape { 0, 2, 3 } })
        for (DType type : { DType::UInt8, DType::Float16, DType::Float32, DType::Float64, DType::Bool }) {
            const Tensor plain = randomTensor(random, type, shape);
            const Tensor last = toLayout(plain, Layout::ChannelsLast);
            QCOMPARE(last.layout(), Layout::ChannelsLast);
            QCOMPARE(last.shape(), shape);
            QCOMPARE(bytesOf(toPlain(last)), bytesOf(plain));
            const size_t size = dtypeBits(type) / 8;
            const auto channels = size_t(shape[1]);
            const size_t spatial = plain.count() ? size_t(plain.count()) / channels / size_t(shape[0]) : 0;
            for (size_t i = 0; i < size_t(plain.count()); ++i) { // element (n, c, s)
                const size_t n = i / (channels * spatial), c = i / spatial % channels, s = i % spatial;
                const size_t at = (n * spatial + s) * channels + c;
                QVERIFY(!std::memcmp(plain.bytes().data() + i * size, last.bytes().data() + at * size, size));
            }
            if (type == DType::UInt8)
                QCOMPARE(toInts(last), toInts(plain)); // logical order whatever the layout
        }
    const Tensor same = randomTensor(random, DType::Float32, { 2, 3, 4 });
    QCOMPARE(toPlain(same).bytes().data(), same.bytes().data());
    QCOMPARE(toLayout(Tensor::of<float>({ 2 }, { 1, 2 }), Layout::ChannelsLast).layout(), Layout::Plain);
    QCOMPARE(toLayout(randomTensor(random, DType::Int4, { 1, 3, 5 }), Layout::ChannelsLast).layout(), Layout::Plain);
    Tensor copy = Tensor::allocate(DType::Float32, { 2, 3, 4 });
    copyToLayout(same, copy);
    QCOMPARE(bytesOf(copy), bytesOf(same));
}

void TensorTests::unalignedStorage()
{
    auto file = std::make_shared<std::vector<std::byte>>(64);
    const float values[] = { 1.5f, -2, 3e20f };
    std::memcpy(file->data() + 5, values, sizeof values);
    const std::weak_ptr<std::vector<std::byte>> alive = file;
    const std::byte* data = file->data() + 5;
    const Tensor t = Tensor::wrapUnaligned(DType::Float32, { 3 }, data, std::move(file));
    const Tensor copy = t;
    QVERIFY(!alive.expired());
    std::vector<std::thread> readers;
    std::array<const float*, 4> seen {};
    for (auto& pointer : seen)
        readers.emplace_back([&] { pointer = copy.data<float>().data(); });
    for (auto& r : readers)
        r.join();
    for (const float* pointer : seen)
        QCOMPARE(pointer, t.data<float>().data());
    QCOMPARE(reinterpret_cast<uintptr_t>(t.bytes().data()) % 64, uintptr_t(0));
    QCOMPARE(toFloats(t.reshaped({ 3, 1 })), (std::vector<float> { 1.5f, -2, 3e20f }));
    QVERIFY(alive.expired()); // nothing needs the file any more
}

void TensorTests::sharedStorage()
{
    QVERIFY(!Tensor().valid());
    auto owner = std::make_shared<std::vector<float>>(std::vector<float> { 1, 2, 3, 4, 5, 6 });
    const auto* data = reinterpret_cast<const std::byte*>(owner->data());
    const std::weak_ptr<std::vector<float>> alive = owner;
    {
        const Tensor t = Tensor::wrap(DType::Float32, { 2, 3 }, data, std::move(owner));
        const Tensor r = t.reshaped({ 3, 2 });
        QCOMPARE(r.shape(), (Shape { 3, 2 }));
        QCOMPARE(r.bytes().data(), data);
        QCOMPARE(t.reinterpreted(DType::Int32).dtype(), DType::Int32);
        QVERIFY(!alive.expired());
    }
    QVERIFY(alive.expired());
    const Tensor scalar = Tensor::scalar(3.0f);
    QCOMPARE(scalar.rank(), size_t(0));
    QCOMPARE(scalar.count(), int64_t(1));
    QCOMPARE(Tensor::allocate(DType::Float32, { 0 }).byteCount(), size_t(0));
}

void TensorTests::stringTensors()
{
    const Tensor t = Tensor::strings({ 2 }, { "a", "b" });
    QCOMPARE(t.dtype(), DType::String);
    QCOMPARE(t.stringData()[1], std::string("b"));
    BufferPool pool;
    QCOMPARE(pool.allocate(DType::String, { 3 }).stringData().size(), size_t(3));
}

void TensorTests::poolReusesStorage()
{
    BufferPool pool;
    std::set<const std::byte*> blocks;
    size_t peak = 0;
    for (int sample = 0; sample < 50; ++sample) {
        const Tensor a = pool.allocate(DType::Float32, { 100, 100 });
        const Tensor b = pool.allocate(DType::UInt8, { 777 });
        QVERIFY(a.bytes().data() != b.bytes().data());
        QCOMPARE(reinterpret_cast<uintptr_t>(a.bytes().data()) % 64, uintptr_t(0));
        blocks.insert({ a.bytes().data(), b.bytes().data() });
        if (sample == 0)
            peak = pool.peakBytes();
    }
    QCOMPARE(blocks.size(), size_t(2));
    QCOMPARE(pool.peakBytes(), peak);
    QVERIFY(peak >= 40777 && peak < 42000);
}

void TensorTests::poolTakesBackFromAnyThread()
{
    BufferPool pool;
    std::set<const std::byte*> blocks;
    for (int sample = 0; sample < 20; ++sample) {
        Tensor t = pool.allocate(DType::Float32, { 5000 });
        blocks.insert(t.bytes().data());
        std::thread([moved = std::move(t)]() mutable { moved = Tensor(); }).join();
    }
    QCOMPARE(blocks.size(), size_t(1));
    std::vector<std::thread> threads;
    for (int n = 0; n < 4; ++n)
        threads.emplace_back([&pool, n] {
            for (int i = 0; i < 500; ++i) {
                Tensor t = pool.allocate(DType::UInt8, { 64 + 100 * ((i + n) % 7) });
                std::memset(t.fill<uint8_t>().data(), i, t.byteCount());
            }
        });
    for (auto& t : threads)
        t.join();
    QVERIFY(pool.peakBytes() < 40000);
}

void TensorTests::tensorsOutliveThePool()
{
    Tensor kept;
    {
        BufferPool pool;
        kept = pool.allocate(DType::Int32, { 3 });
        std::ranges::copy(std::array { 1, 2, 3 }, kept.fill<int32_t>().begin());
    }
    QCOMPARE(toInts(kept), (std::vector<int64_t> { 1, 2, 3 }));
}

void TensorTests::poolKeepsItsLimit()
{
    BufferPool pool(10000);
    Tensor first = pool.allocate(DType::UInt8, { 6000 });
    QVERIFY_EXCEPTION_THROWN(pool.allocate(DType::UInt8, { 6000 }), std::bad_alloc);
    QVERIFY_EXCEPTION_THROWN(pool.allocate(DType::Float64, { int64_t(1) << 60 }), std::bad_alloc);
    first = Tensor();
    QCOMPARE(pool.allocate(DType::UInt8, { 9000 }).count(), int64_t(9000));
}

void TensorTests::poolConvertsLayouts()
{
    std::mt19937 random(3);
    BufferPool pool;
    const Tensor plain = randomTensor(random, DType::Float32, { 2, 5, 3, 3 });
    const Tensor last = pool.toLayout(plain, Layout::ChannelsLast);
    QCOMPARE(bytesOf(last), bytesOf(toLayout(plain, Layout::ChannelsLast)));
    QCOMPARE(bytesOf(pool.toLayout(last, Layout::Plain)), bytesOf(plain));
    QCOMPARE(pool.toLayout(plain, Layout::Plain).bytes().data(), plain.bytes().data());
}

QTEST_APPLESS_MAIN(TensorTests)

#include "tensor_test.moc"
