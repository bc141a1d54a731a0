// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/kernels/window_shape.h"

namespace qs {

enum class PoolKind { Max, Average, Lp };

/// What AveragePool divides by.
enum class AverageDivisor {
    InsideOnly, ///< positions inside the input
    Padded, ///< positions inside the input and its padding; a window may reach further (ceil_mode)
};

struct PoolParams {
    PoolKind kind = PoolKind::Max;
    AverageDivisor divisor = AverageDivisor::InsideOnly;
    double p = 2; ///< Lp
};

/// Order of MaxPool's Indices.
enum class IndexOrder { RowMajor, ColumnMajor };

/// `outer` blocks of spatial positions with `inner` contiguous elements each: N and C for channels-last tensors,
/// N x C and 1 for plain ones. T: float, double, int8_t, uint8_t.
template <class T> void maxPool(const WindowShape& s, int64_t outer, int64_t inner, const T* x, T* y) noexcept;
/// Average and Lp; sums in double.
void sumPool(
    const WindowShape& s, const PoolParams& p, int64_t outer, int64_t inner, const float* x, float* y) noexcept;
/// Plain tensors only; `indices` count positions in the whole input tensor.
template <class T>
void maxPoolIndices(const WindowShape& s, IndexOrder order, const T* x, T* y, int64_t* indices) noexcept;

/// Naive version of all kinds in double over plain tensors.
void poolReference(const WindowShape& s, const PoolParams& p, const double* x, double* y) noexcept;

} // namespace qs
