// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace qs {

/// How many times what rounding explained in a few runs it may be in another one.
inline constexpr double kProofMargin = 3;

/// Elements [first, second) of a tensor.
using ElementRuns = std::vector<std::pair<size_t, size_t>>;

/// These alone, one after the other.
inline std::vector<float> elementsIn(const ElementRuns& runs, const std::vector<float>& all)
{
    std::vector<float> found;
    for (const auto& [first, last] : runs)
        found.insert(found.end(), all.begin() + std::ptrdiff_t(first), all.begin() + std::ptrdiff_t(last));
    return found;
}

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
