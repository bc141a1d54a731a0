// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace qs {

/// `outer` x `size` x `inner` elements, row-major; the middle axis is worked along.
struct AxisShape {
    int64_t outer = 1;
    int64_t size = 1;
    int64_t inner = 1;
};

enum class SoftmaxKind { Softmax, LogSoftmax, Hardmax };

/// Blocks of `size` contiguous elements, each brought to mean 0 and variance 1 (or, not centred, to mean square 1).
/// Element e of the tensor is then scaled by scale[e / run % scales] and shifted by bias of the same index.
struct BlockNorm {
    int64_t blocks = 1;
    int64_t size = 1;
    int64_t run = 1; ///< divides `size` or is a multiple of it
    int64_t scales = 1;
    double epsilon = 1e-5;
    bool centred = true;
};

/// Local response normalization over the channel axis, which is the middle one.
struct LocalResponse {
    AxisShape shape;
    int64_t size = 1;
    double alpha = 1e-4;
    double beta = 0.75;
    double bias = 1;
};

// T: float and double in all of them; sums are kept in double.
template <class T> void softmax(SoftmaxKind kind, const AxisShape& s, const T* x, T* y) noexcept;
/// `scale`, `bias`, `mean` and `inverseDeviation` (one a block) may be null.
template <class T>
void normalizeBlocks(
    const BlockNorm& n, const T* x, const T* scale, const T* bias, T* y, T* mean, T* inverseDeviation) noexcept;
/// y = x * scale[c] + shift[c], c along the middle axis.
template <class T> void scaleAndShift(const AxisShape& s, const T* x, const T* scale, const T* shift, T* y) noexcept;
template <class T> void localResponse(const LocalResponse& p, const T* x, T* y) noexcept;
/// x divided by its norm of order 1 or 2 along the middle axis; 0 stays 0.
template <class T> void lpNormalize(int order, const AxisShape& s, const T* x, T* y) noexcept;

// Naive versions in double.
void softmaxReference(SoftmaxKind kind, const AxisShape& s, const double* x, double* y) noexcept;
void normalizeBlocksReference(const BlockNorm& n, const double* x, const double* scale, const double* bias, double* y,
    double* mean, double* inverseDeviation) noexcept;
/// ONNX BatchNormalization at inference.
void batchNormReference(const AxisShape& s, double epsilon, const double* x, const double* scale, const double* bias,
    const double* mean, const double* variance, double* y) noexcept;

} // namespace qs
