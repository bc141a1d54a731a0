// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>

/// PyTorch's float32 sums on one thread of an x64 CPU, equal to the last bit. Source: PyTorch, the cascade sum of
/// ATen's CPU kernels (behaviour, measured).
namespace qs {

/// Terms that the first sum of a cascade takes before it is emptied, as a power of two.
inline size_t torchLevelPower(size_t count)
{
    const size_t power = count <= 2 ? 1 : static_cast<size_t>(std::bit_width(count - 1)) / 4;
    return std::max<size_t>(4, power);
}

/// Terms one after the other into the first of four sums, which is emptied into the next after some of them.
template <class Get> float torchCascade(size_t count, const Get& get)
{
    const size_t levelPower = torchLevelPower(count), step = size_t(1) << levelPower;
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

/// Sum of values that lie behind each other: four interleaved cascades of eight lanes.
inline float torchSum(const float* values, size_t count)
{
    constexpr size_t kLanes = 8, kRow = 4 * kLanes;
    if (count < kLanes)
        return torchRowSum(count, [&](size_t i) { return values[i]; });
    const size_t rows = count / kRow, levelPower = torchLevelPower(rows), step = size_t(1) << levelPower;
    std::array<std::array<float, kRow>, 4> sums {};
    size_t r = 0;
    const auto addRow = [&] {
        for (size_t k = 0; k < kRow; ++k)
            sums[0][k] += values[r * kRow + k];
        ++r;
    };
    while (r + step <= rows) {
        for (const size_t end = r + step; r < end;)
            addRow();
        for (size_t j = 1; j < sums.size(); ++j) {
            for (size_t k = 0; k < kRow; ++k) {
                sums[j][k] += sums[j - 1][k];
                sums[j - 1][k] = 0;
            }
            if ((r & ((step - 1) << (j * levelPower))) != 0)
                break;
        }
    }
    while (r < rows)
        addRow();
    for (size_t k = 0; k < kRow; ++k)
        sums[0][k] = ((sums[0][k] + sums[1][k]) + sums[2][k]) + sums[3][k];
    for (size_t v = rows * 4; v < count / kLanes; ++v)
        for (size_t lane = 0; lane < kLanes; ++lane)
            sums[0][lane] += values[v * kLanes + lane];
    float sum = 0;
    for (size_t i = count / kLanes * kLanes; i < count; ++i)
        sum += values[i];
    for (size_t lane = 0; lane < kLanes; ++lane)
        sum += ((sums[0][lane] + sums[0][kLanes + lane]) + sums[0][2 * kLanes + lane]) + sums[0][3 * kLanes + lane];
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
