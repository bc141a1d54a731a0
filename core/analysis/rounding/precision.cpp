// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/rounding/precision.h"

#include "core/tensor/convert.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <random>

namespace qs {

namespace {

struct Known {
    std::string_view name;
    int bits; ///< of the significand, the hidden one included
    double least; ///< half a step next to zero
};
constexpr std::array<Known, 6> kKnown { { { "float32", 24, 0 }, { "tf32", 11, 0 }, { "float16", 11, 0x1p-25 },
    { "bfloat16", 8, 0 }, { "float8e4m3fn", 4, 0x1p-10 }, { "float8e5m2", 3, 0x1p-17 } } };

const Known& known(Precision p) { return kKnown[size_t(p)]; }

float roundedToTf32(float x)
{
    constexpr uint32_t kDropped = 13, kOdd = 1, kHalf = (1u << (kDropped - 1)) - 1;
    if (!std::isfinite(x))
        return x;
    auto bits = std::bit_cast<uint32_t>(x);
    bits += kHalf + ((bits >> kDropped) & kOdd);
    return std::bit_cast<float>(bits & ~((1u << kDropped) - 1));
}

float read(const Tensor& t, size_t i)
{
    switch (t.dtype()) {
    case DType::Float32:
        return t.data<float>()[i];
    case DType::Float16:
        return float16ToFloat(t.data<uint16_t>()[i]);
    default:
        return bfloat16ToFloat(t.data<uint16_t>()[i]);
    }
}

void write(Tensor& t, size_t i, float x)
{
    if (t.dtype() == DType::Float32)
        t.fill<float>()[i] = x;
    else
        t.fill<uint16_t>()[i] = t.dtype() == DType::Float16 ? floatToFloat16(x) : floatToBFloat16(x);
}

bool isPlainFloat(DType type) { return type == DType::Float32 || type == DType::Float16 || type == DType::BFloat16; }

template <class Fn> Tensor mapped(const Tensor& t, DType type, Fn&& fn)
{
    Tensor out = Tensor::allocate(type, t.shape(), t.layout());
    const auto count = size_t(t.count());
    for (size_t i = 0; i < count; ++i)
        write(out, i, fn(read(t, i)));
    return out;
}

} // namespace

std::string_view precisionName(Precision p) { return known(p).name; }

double roundingOf(Precision p) { return std::ldexp(1.0, -known(p).bits); }

double largestRounding(Precision p, double size)
{
    int exponent = 0; // size < 2^exponent
    std::frexp(size, &exponent);
    return size > 0 ? std::max(std::ldexp(roundingOf(p), exponent - 1), known(p).least) : 0;
}

std::optional<Precision> precisionOf(DType type)
{
    switch (type) {
    case DType::Float32:
        return Precision::Float32;
    case DType::Float16:
        return Precision::Float16;
    case DType::BFloat16:
        return Precision::BFloat16;
    case DType::Float8E4M3FN:
        return Precision::Float8E4M3;
    case DType::Float8E5M2:
        return Precision::Float8E5M2;
    default:
        return std::nullopt;
    }
}

float rounded(float x, Precision p)
{
    switch (p) {
    case Precision::Float32:
        return x;
    case Precision::TensorFloat32:
        return roundedToTf32(x);
    case Precision::Float16:
        return float16ToFloat(floatToFloat16(x));
    case Precision::BFloat16:
        return bfloat16ToFloat(floatToBFloat16(x));
    case Precision::Float8E4M3:
        return smallFloatToFloat(DType::Float8E4M3FN, floatToSmallFloat(DType::Float8E4M3FN, x, true));
    case Precision::Float8E5M2:
        return smallFloatToFloat(DType::Float8E5M2, floatToSmallFloat(DType::Float8E5M2, x, true));
    }
    return x;
}

Tensor rounded(const Tensor& t, Precision p)
{
    return isPlainFloat(t.dtype()) ? mapped(t, t.dtype(), [p](float x) { return rounded(x, p); }) : t;
}

namespace {

/// Bits of a significand, the hidden one included, with which numbers are taken for exact in a tensor of this type.
int exactBits(DType type, Precision p)
{
    constexpr int kSpared = 7; // so many zeros at the end are no chance
    const int own = known(precisionOf(type).value_or(Precision::Float32)).bits;
    return std::min(known(p).bits, own - kSpared);
}

bool isOfBits(float x, int bits)
{
    const int unused = known(Precision::Float32).bits - bits;
    return (std::bit_cast<uint32_t>(x) & ((1u << unused) - 1)) == 0;
}

} // namespace

Tensor disturbed(const Tensor& t, Precision p, uint32_t seed, double times)
{
    if (!isPlainFloat(t.dtype()))
        return t;
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> share(-1, 1);
    const double relative = times * roundingOf(p), least = times * known(p).least;
    const int exact = exactBits(t.dtype(), p);
    return mapped(t, t.dtype(), [&](float x) {
        return isOfBits(x, exact) || !std::isfinite(x) // zero is
            ? x
            : float(x + share(random) * std::max(least, relative * std::fabs(double(x))));
    });
}

} // namespace qs
