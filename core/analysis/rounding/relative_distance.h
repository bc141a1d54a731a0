// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

namespace qs {

/// How many times what rounding explained in a few runs it may be in another one.
inline constexpr double kProofMargin = 3;

/// Squares of x - y over what is finite in both.
inline double squaresBetween(std::span<const float> x, std::span<const float> y)
{
    double sum = 0;
    for (size_t i = 0; i < std::min(x.size(), y.size()); ++i)
        if (std::isfinite(x[i]) && std::isfinite(y[i]))
            sum += (double(y[i]) - x[i]) * (double(y[i]) - x[i]);
    return sum;
}

/// |x - y| / |x| over what is finite in both; infinite where x is zero and y is not.
inline double relativeDistance(std::span<const float> x, std::span<const float> y)
{
    double signal = 0, noise = 0;
    for (size_t i = 0; i < std::min(x.size(), y.size()); ++i)
        if (std::isfinite(x[i]) && std::isfinite(y[i])) {
            signal += double(x[i]) * x[i];
            noise += (double(y[i]) - x[i]) * (double(y[i]) - x[i]);
        }
    return noise == 0 ? 0 : signal > 0 ? std::sqrt(noise / signal) : HUGE_VAL;
}

} // namespace qs
