// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// The roundings of core/base/rounding.h for small numbers, in forms that compilers make vectors of.
namespace qs {

/// roundHalfEven() of numbers below 2^22.
inline float roundedSmall(float v)
{
    constexpr float kNoFraction = 12582912.0f; // 1.5 * 2^23: its neighbours are whole numbers
    return (v + kNoFraction) - kNoFraction;
}

/// roundHalfEven() of `v` clamped to [0, high]; `high` is whole and small.
inline float roundedWithin(float v, float high)
{
    const float above = v > 0 ? v : 0.0f;
    return roundedSmall(above < high ? above : high);
}

/// roundHalfAway() of numbers that are not negative and below 2^31.
inline int roundedUpAtHalf(float v)
{
    const int whole = static_cast<int>(v);
    return whole + (v - static_cast<float>(whole) >= 0.5f ? 1 : 0);
}

} // namespace qs
