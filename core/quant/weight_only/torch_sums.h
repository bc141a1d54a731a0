// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>

/// PyTorch's float32 sums on one thread of an x64 CPU, equal to the last bit. Source: PyTorch, the cascade sum of
/// ATen's CPU kernels (behaviour, measured).
namespace qs {

/// Terms one after the other into the first of four sums, which is emptied into the next after some of them.
template <class Get> float torchCascade(size_t count, const Get& get)
{
    const size_t power = count <= 2 ? 1 : static_cast<size_t>(std::bit_width(count - 1)) / 4;
    const size_t levelPower = std::max<size_t>(4, power), step = size_t(1) << levelPower;
    std::array<float, 4> sums {};
    size_t i = 0;
    while (i + step <= count) {
        for (const size_t end = i + step; i < end; ++i)
            sums[0] += get(i);
        for (size_t j = 1; j < sums.size(); ++j) {
            sums[j] += sums[j - 1];
            sums[j - 1] = 0;
            if ((i & ((step - 1) << (j * levelPower))) != 0)
                break;
        }
    }
    for (; i < count; ++i)
        sums[0] += get(i);
    return ((sums[0] + sums[1]) + sums[2]) + sums[3];
}

/// Four interleaved cascades.
template <class Get> float torchRowSum(size_t count, const Get& get)
{
    const size_t quarter = count / 4;
    std::array<float, 4> sums;
    for (size_t k = 0; k < sums.size(); ++k)
        sums[k] = torchCascade(quarter, [&](size_t i) { return get(i * 4 + k); });
    for (size_t i = quarter * 4; i < count; ++i)
        sums[0] += get(i);
    return ((sums[0] + sums[1]) + sums[2]) + sums[3];
}

/// Sum of values that lie behind each other.
inline float torchSum(const float* values, size_t count)
{
    constexpr size_t kLanes = 8;
    if (count < kLanes)
        return torchRowSum(count, [&](size_t i) { return values[i]; });
    float sum = 0;
    for (size_t i = count / kLanes * kLanes; i < count; ++i)
        sum += values[i];
    for (size_t lane = 0; lane < kLanes; ++lane)
        sum += torchRowSum(count / kLanes, [&](size_t i) { return values[i * kLanes + lane]; });
    return sum;
}

/// Sum down column `column` of `columns` (at least two) of a row-major matrix.
inline float torchColumnSum(const float* matrix, size_t rows, size_t columns, size_t column)
{
    const auto get = [&](size_t r) { return matrix[r * columns + column]; };
    const size_t together = columns < 8 ? 4 : 32;
    return column < columns / together * together ? torchCascade(rows, get) : torchRowSum(rows, get);
}

} // namespace qs
