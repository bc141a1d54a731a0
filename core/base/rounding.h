// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

/// The only scalar rounding and saturation functions; kernels use them or are tested against them.
namespace qs {

/// Round half to even (IEEE default mode), as ONNX's QuantizeLinear asks.
inline float roundHalfEven(float v) { return std::nearbyint(v); }
inline double roundHalfEven(double v) { return std::nearbyint(v); }

/// Round half away from zero, as C's round().
inline float roundHalfAway(float v) { return std::round(v); }
inline double roundHalfAway(double v) { return std::round(v); }

/// Clamps to [low, high]; NaN becomes `nan`.
inline double clampOr(double v, double low, double high, double nan = 0)
{
    if (std::isnan(v))
        return nan;
    return v < low ? low : v > high ? high : v;
}

/// Integer saturation of a 64-bit value to T.
template <class T> T saturateTo(int64_t v)
{
    constexpr int64_t low = std::numeric_limits<T>::min();
    constexpr int64_t high = std::numeric_limits<T>::max();
    return static_cast<T>(v < low ? low : v > high ? high : v);
}

/// QuantizeLinear of one float: divide, round half to even, add the zero point, saturate to [low, high]. Source: ONNX.
/// NaN, which ONNX leaves open, becomes the lowest code as in ONNX Runtime on x64.
inline int32_t quantizeOne(float x, float scale, int32_t zeroPoint, int32_t low, int32_t high)
{
    const float q = roundHalfEven(x / scale) + static_cast<float>(zeroPoint);
    return static_cast<int32_t>(clampOr(q, low, high, low));
}

/// DequantizeLinear of one code, in float32.
inline float dequantizeOne(int32_t q, float scale, int32_t zeroPoint)
{
    return static_cast<float>(int64_t(q) - zeroPoint) * scale;
}

} // namespace qs
