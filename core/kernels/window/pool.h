// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/kernels/convolution/window_shape.h"

namespace qs {

enum class PoolKind { Max, Average, Lp };

/// What AveragePool divides by.
enum class AverageDivisor {
    InsideOnly, ///< positions inside the input
    Padded, ///< positions inside the input and its padding; a window may reach further (ceil_mode)
};

/// Order in which an average adds its float32 values. Averages of codes often lie on rounding ties, so the order
/// decides the next code; these are the orders measured on ONNX Runtime's CPU kernels.
enum class SumOrder {
    Columns, ///< down each column of the window, then across
    Rows, ///< row by row
    FourLanes, ///< every fourth value, then (0 + 2) + (1 + 3), then the rest
};

struct PoolParams {
    PoolKind kind = PoolKind::Max;
    AverageDivisor divisor = AverageDivisor::InsideOnly;
    double p = 2; ///< Lp
    SumOrder order = SumOrder::Rows; ///< Average
};

/// Order of MaxPool's Indices.
enum class IndexOrder { RowMajor, ColumnMajor };

/// `outer` blocks of spatial positions with `inner` contiguous elements each: N and C for channels-last tensors,
/// N x C and 1 for plain ones. T: float, double, int8_t, uint8_t.
template <class T> void maxPool(const WindowShape& s, int64_t outer, int64_t inner, const T* x, T* y) noexcept;
/// Columns for narrow windows that move by at most two, rows for others; global pools add in four lanes.
SumOrder averageOrder(const WindowShape& s);
/// Average (sums in float32, in the order of `p`) and Lp (sums in double).
void sumPool(
    const WindowShape& s, const PoolParams& p, int64_t outer, int64_t inner, const float* x, float* y) noexcept;
/// Plain tensors only; `indices` count positions in the whole input tensor.
template <class T>
void maxPoolIndices(const WindowShape& s, IndexOrder order, const T* x, T* y, int64_t* indices) noexcept;

/// Naive version of all kinds in double over plain tensors.
void poolReference(const WindowShape& s, const PoolParams& p, const double* x, double* y) noexcept;

} // namespace qs
