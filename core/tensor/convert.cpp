// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/tensor/convert.h"

#include <algorithm>
#include <cstring>

namespace qs {

namespace {

/// Code of element i of a packed 2- or 4-bit type, sign-extended for signed types.
int packedCode(const Tensor& t, int64_t i)
{
    const size_t bits = dtypeBits(t.dtype());
    const size_t perByte = 8 / bits;
    const auto byte = std::to_integer<unsigned>(t.bytes()[static_cast<size_t>(i) / perByte]);
    const unsigned code = (byte >> (bits * (static_cast<size_t>(i) % perByte))) & ((1u << bits) - 1);
    const bool negative = isInteger(t.dtype()) && isSigned(t.dtype()) && (code >> (bits - 1));
    return negative ? int(code) - (1 << bits) : int(code);
}

template <class Fn> auto visitElement(const Tensor& t, int64_t index, Fn fn)
{
    const auto i = static_cast<size_t>(index);
    switch (t.dtype()) {
    case DType::Float32:
        return fn(t.data<float>()[i]);
    case DType::Float64:
        return fn(t.data<double>()[i]);
    case DType::UInt8:
        return fn(t.data<uint8_t>()[i]);
    case DType::Int8:
        return fn(t.data<int8_t>()[i]);
    case DType::UInt16:
        return fn(t.data<uint16_t>()[i]);
    case DType::Int16:
        return fn(t.data<int16_t>()[i]);
    case DType::Int32:
        return fn(t.data<int32_t>()[i]);
    case DType::Int64:
        return fn(t.data<int64_t>()[i]);
    case DType::UInt32:
        return fn(t.data<uint32_t>()[i]);
    case DType::UInt64:
        return fn(t.data<uint64_t>()[i]);
    case DType::Bool:
        return fn(uint8_t(t.data<uint8_t>()[i] != 0));
    case DType::Float16:
        return fn(float16ToFloat(t.data<uint16_t>()[i]));
    case DType::BFloat16:
        return fn(bfloat16ToFloat(t.data<uint16_t>()[i]));
    case DType::Float8E4M3FN:
    case DType::Float8E4M3FNUZ:
    case DType::Float8E5M2:
    case DType::Float8E5M2FNUZ:
    case DType::Float8E8M0:
        return fn(smallFloatToFloat(t.dtype(), t.data<uint8_t>()[i]));
    case DType::Float4E2M1:
        return fn(smallFloatToFloat(t.dtype(), uint8_t(packedCode(t, index))));
    case DType::UInt4:
    case DType::Int4:
    case DType::UInt2:
    case DType::Int2:
        return fn(packedCode(t, index));
    default:
        return fn(0);
    }
}

/// Rows and columns swapped, in tiles that stay in the cache: to[c][r] = from[r][c].
template <class T> void transpose(const T* from, T* to, int64_t rows, int64_t columns)
{
    constexpr int64_t kTile = 32;
    for (int64_t r0 = 0; r0 < rows; r0 += kTile)
        for (int64_t c0 = 0; c0 < columns; c0 += kTile) {
            const int64_t r1 = std::min(rows, r0 + kTile), c1 = std::min(columns, c0 + kTile);
            for (int64_t c = c0; c < c1; ++c)
                for (int64_t r = r0; r < r1; ++r)
                    to[c * rows + r] = from[r * columns + c];
        }
}

template <class T> void permute(const Tensor& from, Tensor& to)
{
    const Shape& s = from.shape();
    int64_t spatial = 1;
    for (size_t i = 2; i < s.size(); ++i)
        spatial *= s[i];
    const bool toLast = to.layout() == Layout::ChannelsLast;
    const int64_t rows = toLast ? s[1] : spatial, columns = toLast ? spatial : s[1];
    for (int64_t n = 0; n < s[0]; ++n)
        transpose(from.data<T>().data() + n * rows * columns, to.fill<T>().data() + n * rows * columns, rows, columns);
}

template <class T, class Read> std::vector<T> allElements(const Tensor& t, Read read)
{
    const Tensor plain = toPlain(t);
    std::vector<T> out(static_cast<size_t>(plain.count()));
    for (size_t i = 0; i < out.size(); ++i)
        out[i] = read(plain, static_cast<int64_t>(i));
    return out;
}

} // namespace

double elementAsDouble(const Tensor& t, int64_t i)
{
    return visitElement(t, i, [](auto v) { return static_cast<double>(v); });
}

int64_t elementAsInt(const Tensor& t, int64_t i)
{
    return visitElement(t, i, [](auto v) { return static_cast<int64_t>(v); });
}

std::vector<double> toDoubles(const Tensor& t) { return allElements<double>(t, elementAsDouble); }

std::vector<float> toFloats(const Tensor& t)
{
    if (t.dtype() == DType::Float32 && t.layout() == Layout::Plain)
        return { t.data<float>().begin(), t.data<float>().end() };
    return allElements<float>(t, [](const Tensor& p, int64_t i) { return static_cast<float>(elementAsDouble(p, i)); });
}

std::vector<int64_t> toInts(const Tensor& t) { return allElements<int64_t>(t, elementAsInt); }

Tensor unpacked(const Tensor& t)
{
    if (dtypeBits(t.dtype()) >= 8 || dtypeBits(t.dtype()) == 0)
        return t;
    const bool isInt = isInteger(t.dtype()) && isSigned(t.dtype());
    Tensor out = Tensor::allocate(isInt ? DType::Int8 : DType::UInt8, t.shape());
    for (int64_t i = 0; i < t.count(); ++i)
        out.fill<uint8_t>()[static_cast<size_t>(i)] = static_cast<uint8_t>(packedCode(t, i));
    return out;
}

Tensor packedAs(const Tensor& t, DType type)
{
    Tensor out = Tensor::allocate(type, t.shape());
    const size_t bits = dtypeBits(type), perByte = 8 / bits;
    auto bytes = std::span(out.fill<uint8_t>().data(), out.byteCount());
    std::memset(bytes.data(), 0, bytes.size());
    const auto codes = t.data<uint8_t>();
    for (size_t i = 0; i < codes.size(); ++i)
        bytes[i / perByte] |= static_cast<uint8_t>((codes[i] & ((1u << bits) - 1)) << (bits * (i % perByte)));
    return out;
}

void copyToLayout(const Tensor& from, Tensor& to)
{
    if (from.layout() == to.layout()) {
        std::memcpy(to.fill<std::byte>().data(), from.bytes().data(), from.byteCount());
        return;
    }
    switch (dtypeBits(from.dtype())) {
    case 8:
        return permute<uint8_t>(from, to);
    case 16:
        return permute<uint16_t>(from, to);
    case 32:
        return permute<uint32_t>(from, to);
    default:
        return permute<uint64_t>(from, to);
    }
}

Tensor toLayout(const Tensor& t, Layout layout)
{
    if (t.layout() == layout || t.rank() < 3 || dtypeBits(t.dtype()) < 8 || dtypeBits(t.dtype()) > 64)
        return t;
    Tensor out = Tensor::allocate(t.dtype(), t.shape(), layout);
    copyToLayout(t, out);
    return out;
}

} // namespace qs
