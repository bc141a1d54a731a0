// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/movement/element_io.h"

#include "core/tensor/convert.h"

#include <bit>
#include <cmath>
#include <type_traits>

namespace qs {

namespace {

template <class T, class W> void loadAs(const std::byte* data, size_t first, W* out, size_t n)
{
    const T* in = reinterpret_cast<const T*>(data) + first;
    for (size_t i = 0; i < n; ++i)
        out[i] = static_cast<W>(in[i]);
}

template <class T, class W, class Decode>
void loadDecoded(const std::byte* data, size_t first, W* out, size_t n, Decode decode)
{
    const T* in = reinterpret_cast<const T*>(data) + first;
    for (size_t i = 0; i < n; ++i)
        out[i] = static_cast<W>(decode(in[i]));
}

/// Code of element i of a packed type, sign-extended for signed integers.
int packedCode(DType type, const std::byte* data, size_t i)
{
    const size_t bits = dtypeBits(type), perByte = 8 / bits;
    const unsigned byte = std::to_integer<unsigned>(data[i / perByte]);
    const unsigned code = (byte >> (bits * (i % perByte))) & ((1u << bits) - 1);
    const bool negative = isInteger(type) && isSigned(type) && (code >> (bits - 1));
    return negative ? int(code) - (1 << bits) : int(code);
}

void storePacked(DType type, std::byte* data, size_t i, unsigned code)
{
    const size_t bits = dtypeBits(type), perByte = 8 / bits;
    const unsigned mask = (1u << bits) - 1, shift = static_cast<unsigned>(bits * (i % perByte));
    const unsigned old = i % perByte == 0 ? 0 : std::to_integer<unsigned>(data[i / perByte]) & ~(mask << shift);
    data[i / perByte] = static_cast<std::byte>(old | ((code & mask) << shift));
}

/// cvttsd2si: truncation, the lowest value for what does not fit.
template <class I> I truncated(double v)
{
    constexpr double limit = -static_cast<double>(std::numeric_limits<I>::min());
    return v >= -limit && v < limit ? static_cast<I>(v) : std::numeric_limits<I>::min();
}

template <class T, class W> T toInteger(W v)
{
    if constexpr (std::is_integral_v<W>)
        return static_cast<T>(v);
    else if constexpr (std::is_same_v<T, uint64_t>)
        return v >= W(9223372036854775808.0)
            ? static_cast<uint64_t>(truncated<int64_t>(double(v) - 0x1p63)) ^ (1ull << 63)
            : static_cast<uint64_t>(truncated<int64_t>(double(v)));
    else if constexpr (sizeof(T) >= 8 || std::is_same_v<T, uint32_t>)
        return static_cast<T>(truncated<int64_t>(double(v)));
    else
        return static_cast<T>(truncated<int32_t>(double(v)));
}

template <class T, class W> void storeInteger(std::byte* data, size_t first, const W* in, size_t n)
{
    T* out = reinterpret_cast<T*>(data) + first;
    for (size_t i = 0; i < n; ++i)
        out[i] = toInteger<T>(in[i]);
}

template <class T, class W> void storeFloat(std::byte* data, size_t first, const W* in, size_t n)
{
    T* out = reinterpret_cast<T*>(data) + first;
    for (size_t i = 0; i < n; ++i)
        out[i] = static_cast<T>(in[i]);
}

template <class W> float nearFloat(W v)
{
    if constexpr (std::is_same_v<W, double>)
        return oddFloat(v);
    else
        return static_cast<float>(v);
}

template <class T, class W, class Encode>
void storeEncoded(std::byte* data, size_t first, const W* in, size_t n, Encode encode)
{
    T* out = reinterpret_cast<T*>(data) + first;
    for (size_t i = 0; i < n; ++i)
        out[i] = encode(nearFloat(in[i]));
}

template <class W> void storePackedIntegers(DType type, std::byte* data, size_t first, const W* in, size_t n)
{
    for (size_t i = 0; i < n; ++i) {
        int64_t code;
        if constexpr (std::is_integral_v<W>)
            code = static_cast<int64_t>(in[i]);
        else
            code = truncated<int64_t>(double(in[i]));
        storePacked(type, data, first + i, static_cast<unsigned>(code));
    }
}

} // namespace

float oddFloat(double value)
{
    const float f = static_cast<float>(value);
    if (static_cast<double>(f) == value || !std::isfinite(f))
        return f;
    uint32_t bits = std::bit_cast<uint32_t>(f);
    if (std::fabs(static_cast<double>(f)) > std::fabs(value))
        --bits;
    return std::bit_cast<float>(bits | 1u);
}

template <class W> void loadElements(DType type, const std::byte* data, size_t first, W* out, size_t n)
{
    switch (type) {
    case DType::Float32:
        return loadAs<float>(data, first, out, n);
    case DType::Float64:
        return loadAs<double>(data, first, out, n);
    case DType::UInt8:
        return loadAs<uint8_t>(data, first, out, n);
    case DType::Int8:
        return loadAs<int8_t>(data, first, out, n);
    case DType::UInt16:
        return loadAs<uint16_t>(data, first, out, n);
    case DType::Int16:
        return loadAs<int16_t>(data, first, out, n);
    case DType::UInt32:
        return loadAs<uint32_t>(data, first, out, n);
    case DType::Int32:
        return loadAs<int32_t>(data, first, out, n);
    case DType::UInt64:
        return loadAs<uint64_t>(data, first, out, n);
    case DType::Int64:
        return loadAs<int64_t>(data, first, out, n);
    case DType::Bool:
        return loadDecoded<uint8_t>(data, first, out, n, [](uint8_t v) { return v != 0; });
    case DType::Float16:
        return loadDecoded<uint16_t>(data, first, out, n, float16ToFloat);
    case DType::BFloat16:
        return loadDecoded<uint16_t>(data, first, out, n, bfloat16ToFloat);
    case DType::Float8E4M3FN:
    case DType::Float8E4M3FNUZ:
    case DType::Float8E5M2:
    case DType::Float8E5M2FNUZ:
    case DType::Float8E8M0:
        return loadDecoded<uint8_t>(data, first, out, n, [type](uint8_t v) { return smallFloatToFloat(type, v); });
    default:
        for (size_t i = 0; i < n; ++i) {
            const int code = packedCode(type, data, first + i);
            out[i] = type == DType::Float4E2M1 ? static_cast<W>(smallFloatToFloat(type, static_cast<uint8_t>(code)))
                                               : static_cast<W>(code);
        }
    }
}

template <class W>
void storeElements(DType type, std::byte* data, size_t first, const W* in, size_t n, Overflow overflow)
{
    const bool saturate = overflow == Overflow::Saturate;
    switch (type) {
    case DType::Float32:
        return storeFloat<float>(data, first, in, n);
    case DType::Float64:
        return storeFloat<double>(data, first, in, n);
    case DType::UInt8:
        return storeInteger<uint8_t>(data, first, in, n);
    case DType::Int8:
        return storeInteger<int8_t>(data, first, in, n);
    case DType::UInt16:
        return storeInteger<uint16_t>(data, first, in, n);
    case DType::Int16:
        return storeInteger<int16_t>(data, first, in, n);
    case DType::UInt32:
        return storeInteger<uint32_t>(data, first, in, n);
    case DType::Int32:
        return storeInteger<int32_t>(data, first, in, n);
    case DType::UInt64:
        return storeInteger<uint64_t>(data, first, in, n);
    case DType::Int64:
        return storeInteger<int64_t>(data, first, in, n);
    case DType::Bool: {
        auto* out = reinterpret_cast<uint8_t*>(data) + first;
        for (size_t i = 0; i < n; ++i)
            out[i] = in[i] != W(0);
        return;
    }
    case DType::Float16:
        return storeEncoded<uint16_t>(data, first, in, n, floatToFloat16);
    case DType::BFloat16:
        return storeEncoded<uint16_t>(data, first, in, n, floatToBFloat16);
    case DType::Float8E4M3FN:
    case DType::Float8E4M3FNUZ:
    case DType::Float8E5M2:
    case DType::Float8E5M2FNUZ:
    case DType::Float8E8M0:
        return storeEncoded<uint8_t>(data, first, in, n, [=](float v) { return floatToSmallFloat(type, v, saturate); });
    case DType::Float4E2M1:
        for (size_t i = 0; i < n; ++i)
            storePacked(type, data, first + i, floatToSmallFloat(type, nearFloat(in[i]), saturate));
        return;
    default:
        return storePackedIntegers(type, data, first, in, n);
    }
}

template void loadElements(DType, const std::byte*, size_t, float*, size_t);
template void loadElements(DType, const std::byte*, size_t, double*, size_t);
template void loadElements(DType, const std::byte*, size_t, int64_t*, size_t);
template void loadElements(DType, const std::byte*, size_t, uint64_t*, size_t);
template void storeElements(DType, std::byte*, size_t, const float*, size_t, Overflow);
template void storeElements(DType, std::byte*, size_t, const double*, size_t, Overflow);
template void storeElements(DType, std::byte*, size_t, const int64_t*, size_t, Overflow);
template void storeElements(DType, std::byte*, size_t, const uint64_t*, size_t, Overflow);

} // namespace qs
