// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/tensor/convert.h"
#include "core/tensor/quant_params.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace qs {

namespace {

/// A float format of at most 8 bits: sign, exponent, mantissa.
struct SmallFormat {
    int mantissaBits;
    int bias;
    int bits; ///< in all
    bool infinities; ///< IEEE-like: exponent all ones = inf/NaN
    bool unsignedZero; ///< FNUZ: only +0, code 0x80 = NaN
};

SmallFormat formatOf(DType type)
{
    switch (type) {
    case DType::Float8E4M3FN:
        return { 3, 7, 8, false, false };
    case DType::Float8E4M3FNUZ:
        return { 3, 8, 8, false, true };
    case DType::Float8E5M2:
        return { 2, 15, 8, true, false };
    case DType::Float8E5M2FNUZ:
        return { 2, 16, 8, false, true };
    default:
        return { 1, 1, 4, false, false }; // float4e2m1
    }
}

float decode(DType type, uint8_t code)
{
    if (type == DType::Float8E8M0)
        return code == 0xff ? std::numeric_limits<float>::quiet_NaN() : std::ldexp(1.0f, int(code) - 127);
    const SmallFormat f = formatOf(type);
    const int signBit = 1 << (f.bits - 1);
    const bool negative = code & signBit;
    const int magnitude = code & (signBit - 1);
    const int exponent = magnitude >> f.mantissaBits;
    const int mantissa = magnitude & ((1 << f.mantissaBits) - 1);
    const int topExponent = (1 << (f.bits - 1 - f.mantissaBits)) - 1;
    const float nan = std::numeric_limits<float>::quiet_NaN();
    if (f.unsignedZero && code == signBit)
        return nan;
    if (f.infinities && exponent == topExponent)
        return mantissa ? nan : negative ? -INFINITY : INFINITY;
    if (type == DType::Float8E4M3FN && magnitude == 0x7f)
        return nan;
    const float value = exponent == 0
        ? std::ldexp(float(mantissa), 1 - f.bias - f.mantissaBits)
        : std::ldexp(float(mantissa + (1 << f.mantissaBits)), exponent - f.bias - f.mantissaBits);
    return negative ? -value : value;
}

/// Decoded values of a type, to find the nearest code by search.
const std::array<float, 256>& decoded(DType type)
{
    static const auto tables = [] {
        std::array<std::array<float, 256>, 27> t {};
        for (DType d : { DType::Float8E4M3FN, DType::Float8E4M3FNUZ, DType::Float8E5M2, DType::Float8E5M2FNUZ,
                 DType::Float4E2M1, DType::Float8E8M0 })
            for (int c = 0; c < 256; ++c)
                t[size_t(d)][size_t(c)] = decode(d, uint8_t(d == DType::Float4E2M1 ? c & 15 : c));
        return t;
    }();
    return tables[size_t(type)];
}

int largestFiniteMagnitude(DType type)
{
    switch (type) {
    case DType::Float8E4M3FN:
        return 0x7e;
    case DType::Float8E5M2:
        return 0x7b;
    case DType::Float4E2M1:
        return 0x7;
    default:
        return 0x7f;
    }
}

uint8_t nanCode(DType type)
{
    switch (type) {
    case DType::Float8E4M3FNUZ:
    case DType::Float8E5M2FNUZ:
        return 0x80;
    default:
        return 0x7f;
    }
}

uint8_t encodeE8M0(float value)
{
    if (std::isnan(value) || value < 0)
        return 0xff;
    if (std::isinf(value))
        return 0xfe;
    int exponent = 0;
    const float fraction = std::frexp(value, &exponent);
    // frexp gives [0.5, 1): value = fraction * 2^exponent; round to the nearer power of two, halves up.
    const int power = exponent - 1 + (fraction >= 0.75f ? 1 : 0);
    return static_cast<uint8_t>(value == 0 ? 0 : std::clamp(power + 127, 0, 254));
}

} // namespace

CodeValues codeValues(DType type)
{
    if (const auto codes = codeRange(type))
        return { double(codes->low), double(codes->high) };
    CodeValues values;
    if (!isFloat(type) || dtypeBits(type) == 0 || dtypeBits(type) > 8)
        return values;
    for (const float v : decoded(type))
        if (std::isfinite(v))
            values = { std::min(values.low, double(v)), std::max(values.high, double(v)) };
    return values;
}

size_t QuantParams::bits() const
{
    return kept ? size_t(std::bit_width(uint64_t(kept->high - kept->low))) : dtypeBits(dtype);
}

float smallFloatToFloat(DType type, uint8_t bits) { return decoded(type)[bits]; }

uint8_t floatToSmallFloat(DType type, float value, bool saturate)
{
    if (type == DType::Float8E8M0)
        return encodeE8M0(value);
    const SmallFormat f = formatOf(type);
    const uint8_t sign = std::signbit(value) ? uint8_t(1 << (f.bits - 1)) : uint8_t(0);
    if (std::isnan(value) && type == DType::Float4E2M1)
        return sign ^ 0x8; // there is no NaN: zero of the other sign, as ONNX's reference has it
    if (std::isnan(value))
        return f.unsignedZero ? 0x80 : uint8_t(sign | nanCode(type));
    const int top = largestFiniteMagnitude(type);
    const auto& table = decoded(type);
    const float magnitude = std::fabs(value);
    const float step = table[size_t(top)] - table[size_t(top - 1)];
    const float tie = table[size_t(top)] + step / 2; // half way to the code that does not exist
    const bool over = magnitude > tie || (magnitude == tie && top % 2 == 1);
    if (over && type != DType::Float4E2M1 && !saturate) {
        if (f.infinities)
            return sign | 0x7c;
        return f.unsignedZero ? 0x80 : uint8_t(sign | nanCode(type));
    }
    if (magnitude >= table[size_t(top)])
        return sign | uint8_t(top);
    // Codes of one sign are ordered by magnitude: find the neighbours and round half to the even code.
    const auto above = std::upper_bound(table.begin(), table.begin() + top + 1, magnitude) - table.begin();
    const int low = int(above) - 1;
    const double toLow = double(magnitude) - table[size_t(low)];
    const double toHigh = double(table[size_t(low + 1)]) - magnitude;
    const int code = toLow < toHigh || (toLow == toHigh && low % 2 == 0) ? low : low + 1;
    if (code == 0 && f.unsignedZero)
        return 0;
    return sign | uint8_t(code);
}

float float16ToFloat(uint16_t h)
{
    const uint32_t sign = uint32_t(h & 0x8000) << 16;
    const uint32_t exponent = (h >> 10) & 31;
    const uint32_t mantissa = h & 1023;
    if (exponent == 31)
        return std::bit_cast<float>(sign | 0x7f800000 | (mantissa << 13));
    if (exponent == 0) {
        const float v = std::ldexp(float(mantissa), -24);
        return sign ? -v : v;
    }
    return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
}

uint16_t floatToFloat16(float value)
{
    const uint32_t bits = std::bit_cast<uint32_t>(value);
    const auto sign = static_cast<uint16_t>((bits >> 16) & 0x8000);
    const uint32_t magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000)
        return sign | 0x7e00;
    if (magnitude >= 0x477ff000) // rounds to 65536 or more
        return sign | 0x7c00;
    if (magnitude < 0x38800000) { // subnormal: units of 2^-24
        const float units = std::nearbyint(std::ldexp(std::bit_cast<float>(magnitude), 24));
        return static_cast<uint16_t>(sign | uint16_t(units));
    }
    const uint32_t rounded = magnitude + 0xfff + ((magnitude >> 13) & 1);
    return static_cast<uint16_t>(sign | ((rounded - 0x38000000) >> 13));
}

float bfloat16ToFloat(uint16_t bits) { return std::bit_cast<float>(uint32_t(bits) << 16); }

uint16_t floatToBFloat16(float value)
{
    const uint32_t bits = std::bit_cast<uint32_t>(value);
    if ((bits & 0x7fffffff) > 0x7f800000)
        return static_cast<uint16_t>((bits >> 16) | 0x40);
    return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

} // namespace qs
