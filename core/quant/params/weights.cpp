// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/params/weights.h"

#include "core/base/rounding.h"
#include "core/kernels/quantize/quantize.h"
#include "core/kernels/statistics/value_range.h"
#include "core/quant/params/float8.h"
#include "core/tensor/convert.h"
#include "core/tensor/empty_shape.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace qs {

namespace {

/// A float constant as float32, without a copy where it is one.
class Floats {
public:
    explicit Floats(const Tensor& t)
        : m_plain(toPlain(t))
    {
        if (m_plain.dtype() != DType::Float32)
            m_copy = toFloats(m_plain);
        m_span = m_plain.dtype() == DType::Float32 ? m_plain.data<float>() : std::span<const float>(m_copy);
    }
    std::span<const float> all() const { return m_span; }

private:
    Tensor m_plain;
    std::vector<float> m_copy;
    std::span<const float> m_span;
};

/// The tensor seen as outer x channels x inner around an axis.
struct Split {
    int64_t outer = 1, channels = 1, inner = 1;
    Split(const Shape& shape, std::optional<int64_t> axis)
    {
        for (size_t i = 0; i < shape.size(); ++i)
            (!axis || int64_t(i) > *axis ? inner : int64_t(i) == *axis ? channels : outer) *= shape[i];
    }
};

struct Extremes {
    float low = 0, high = 0; ///< both touch zero
    void add(std::span<const float> values)
    {
        if (values.size() >= kLong) {
            const ValueRange range = valueRange(values);
            low = range.low < low ? range.low : low;
            high = range.high > high ? range.high : high;
            return;
        }
        for (float v : values) {
            low = v < low ? v : low;
            high = v > high ? v : high;
        }
    }
    static constexpr size_t kLong = 32; ///< where the kernel is faster
};

Issue notFinite()
{
    return badInput("holds NaN or infinity, which no scale can represent", {}, "repair the model, or exclude its node");
}

/// What no scale can be found for. Folding makes constants, too, so import alone does not keep the last kind out.
Status checkScalable(const Tensor& weight, std::span<const float> values)
{
    if (!valueRange(values).allFinite())
        return notFinite();
    if (isEndlessNothing(weight.shape()))
        return badInput("has the shape " + shapeText(weight.shape()) + ": no element, and yet too many channels", {},
            "repair the model, or exclude its node");
    return {};
}

/// run(first, count, index of the scale) for stretches of `size` elements that share a scale.
template <class Run> void forEachScale(size_t size, const QuantParams& p, const Shape& shape, const Run& run)
{
    if (!p.axis || p.scale.size() == 1) {
        run(0, size, 0);
        return;
    }
    const Split s(shape, p.axis);
    const int64_t block = std::max<int64_t>(p.blockSize, 1);
    const int64_t blocks = (s.channels + block - 1) / block;
    for (int64_t o = 0; o < s.outer; ++o)
        for (int64_t c = 0; c < s.channels; ++c) {
            const auto at = static_cast<size_t>((o * s.channels + c) * s.inner);
            if (p.blockSize == 0) {
                run(at, static_cast<size_t>(s.inner), static_cast<size_t>(c));
                continue;
            }
            for (int64_t i = 0; i < s.inner; ++i)
                run(at + static_cast<size_t>(i), 1, static_cast<size_t>((o * blocks + c / block) * s.inner + i));
        }
}

template <class T> void encode(std::span<const float> x, const QuantParams& p, const Shape& shape, std::span<T> out)
{
    forEachScale(x.size(), p, shape, [&](size_t at, size_t n, size_t c) {
        quantizeFast<T>(x.data() + at, { &p.scale[c], &p.zeroPoint[c], 0 }, out.data() + at, n);
    });
}

/// One scale for each channel, by its deviation.
Result<QuantParams> float8Params(
    std::span<const float> x, const Split& s, const ScaleRules& rules, std::optional<int64_t> axis)
{
    QuantParams params { rules.type, {}, {}, axis, 0 };
    std::vector<float> values;
    for (int64_t c = 0; c < s.channels; ++c) {
        values.clear();
        for (int64_t o = 0; o < s.outer; ++o) {
            const auto row
                = x.subspan(static_cast<size_t>((o * s.channels + c) * s.inner), static_cast<size_t>(s.inner));
            values.insert(values.end(), row.begin(), row.end());
        }
        QS_TRY(const float scale, float8Scale(deviationOf(values, rules.real), rules.real));
        params.scale.push_back(scale);
        params.zeroPoint.push_back(0);
    }
    return params;
}

} // namespace

Result<QuantParams> weightParams(const Tensor& weight, const ScaleRules& rules, std::optional<int64_t> axis)
{
    const Floats floats(weight);
    const auto x = floats.all();
    QS_CHECK(checkScalable(weight, x));
    const Split s(weight.shape(), axis);
    if (isFloat8(rules.type))
        return float8Params(x, s, rules, axis);
    QuantParams params { rules.type, {}, {}, axis, 0 };
    params.kept = rules.kept;
    for (int64_t c = 0; c < s.channels; ++c) {
        Extremes e;
        for (int64_t o = 0; o < s.outer; ++o)
            e.add(x.subspan(static_cast<size_t>((o * s.channels + c) * s.inner), static_cast<size_t>(s.inner)));
        const ScaleZero z = scaleAndZeroPoint(e.low, e.high, rules);
        params.scale.push_back(z.scale);
        params.zeroPoint.push_back(x.empty() ? 0 : z.zeroPoint);
    }
    return params;
}

Result<QuantParams> blockedWeightParams(const Tensor& weight, const ScaleRules& rules, int64_t axis, int64_t blockSize)
{
    assert(weight.rank() == 2 && blockSize > 0);
    const Floats floats(weight);
    const auto x = floats.all();
    QS_CHECK(checkScalable(weight, x));
    const CodeRange codes = rules.kept.value_or(targetCodes(rules.type, rules.symmetric, false));
    const double low = static_cast<double>(codes.low), high = static_cast<double>(codes.high);
    const Split s(weight.shape(), axis);
    QuantParams params { rules.type, {}, {}, axis, blockSize };
    params.kept = rules.kept;
    for (int64_t o = 0; o < s.outer; ++o)
        for (int64_t from = 0; from < s.channels; from += blockSize)
            for (int64_t i = 0; i < s.inner; ++i) {
                Extremes e;
                for (int64_t c = from; c < std::min(from + blockSize, s.channels); ++c)
                    e.add(x.subspan(static_cast<size_t>((o * s.channels + c) * s.inner + i), 1));
                if (rules.symmetric) {
                    e.high = std::max(-e.low, e.high);
                    e.low = -e.high;
                }
                // Here the width is rounded to the tensor's type before it is divided.
                const double scale = double(roundedTo(rules.real, double(e.high) - double(e.low))) / (high - low);
                const bool none = vanishes(scale, rules);
                // Unlike elsewhere the zero point comes from the rounded scale.
                const float rounded = none ? 1.0f : roundedTo(rules.real, scale);
                const double zero = rules.symmetric ? roundHalfEven((low + high) / 2.0)
                    : none                          ? 0
                           : clampOr(roundHalfEven(low - double(e.low) / double(rounded)), low, high);
                params.scale.push_back(rounded);
                params.zeroPoint.push_back(static_cast<int32_t>(zero));
            }
    return params;
}

Tensor weightCodes(const Tensor& weight, const QuantParams& params)
{
    const Floats floats(weight);
    const auto x = floats.all();
    const auto as = [&](DType type, auto zero) {
        using T = decltype(zero);
        Tensor codes = Tensor::allocate(type, weight.shape());
        encode<T>(x, params, weight.shape(), codes.fill<T>());
        return codes;
    };
    switch (params.dtype) {
    case DType::UInt8:
        return as(DType::UInt8, uint8_t {});
    case DType::Int8:
        return as(DType::Int8, int8_t {});
    case DType::UInt16:
        return as(DType::UInt16, uint16_t {});
    case DType::Int16:
        return as(DType::Int16, int16_t {});
    case DType::Float8E4M3FN: {
        Tensor codes = Tensor::allocate(params.dtype, weight.shape());
        uint8_t* out = codes.fill<uint8_t>().data();
        forEachScale(x.size(), params, weight.shape(), [&](size_t at, size_t n, size_t c) {
            float8Codes(x.subspan(at, n), params.scale[c], weight.dtype(), out + at);
        });
        return codes;
    }
    default:
        break;
    }
    // Fewer bits: through 8-bit codes, which saturate later.
    const bool isSignedType = isSigned(params.dtype);
    Tensor wide = isSignedType ? as(DType::Int8, int8_t {}) : as(DType::UInt8, uint8_t {});
    const CodeRange codes = params.codes();
    if (isSignedType)
        for (int8_t& q : wide.fill<int8_t>())
            q = static_cast<int8_t>(std::clamp<int64_t>(q, codes.low, codes.high));
    else
        for (uint8_t& q : wide.fill<uint8_t>())
            q = static_cast<uint8_t>(std::min<int64_t>(q, codes.high));
    return packedAs(wide, params.dtype);
}

Shape paramsShape(const QuantParams& params, const Shape& weight)
{
    if (!params.axis)
        return {};
    if (params.blockSize == 0)
        return { static_cast<int64_t>(params.scale.size()) };
    Shape shape = weight;
    int64_t& blocks = shape[static_cast<size_t>(*params.axis)];
    blocks = (blocks + params.blockSize - 1) / params.blockSize;
    return shape;
}

Tensor realTensor(DType real, Shape shape, std::span<const float> values)
{
    Tensor t = Tensor::allocate(real, std::move(shape));
    assert(static_cast<size_t>(t.count()) == values.size());
    if (real == DType::Float16)
        std::ranges::transform(values, t.fill<uint16_t>().begin(), floatToFloat16);
    else
        std::ranges::copy(values, t.fill<float>().begin());
    return t;
}

Tensor codeTensor(DType type, Shape shape, std::span<const int32_t> values)
{
    const auto as = [&](DType wide, auto zero) {
        using T = decltype(zero);
        Tensor t = Tensor::allocate(wide, shape);
        std::ranges::transform(values, t.template fill<T>().begin(), [](int32_t v) { return static_cast<T>(v); });
        return t;
    };
    switch (type) {
    case DType::UInt8:
        return as(type, uint8_t {});
    case DType::Int8:
        return as(type, int8_t {});
    case DType::UInt16:
        return as(type, uint16_t {});
    case DType::Int16:
        return as(type, int16_t {});
    case DType::Int32:
        return as(type, int32_t {});
    case DType::Float8E4M3FN: // zero points, which are zero
        return as(type, uint8_t {});
    default:
        return packedAs(isSigned(type) ? as(DType::Int8, int8_t {}) : as(DType::UInt8, uint8_t {}), type);
    }
}

} // namespace qs
