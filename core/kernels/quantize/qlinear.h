// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/kernels/elementwise/binary.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

/// Arithmetic on 8-bit codes as ONNX Runtime's com.microsoft QLinear* operators do it on x64: the order of the float32
/// operations is part of the result. T = uint8_t or int8_t. Where `real` is not null it receives what the output
/// would be before rounding to its grid, in real units.
namespace qs {

/// real = scale * (code - zero point).
struct Grid {
    float scale = 1;
    int32_t zeroPoint = 0;
};

/// An addition or multiplication of codes with everything that is constant over the tensor.
struct QLinearBinary {
    BinaryOp op = BinaryOp::Add; ///< Add or Mul
    Grid a, b, out;
};
template <class T> void qlinearReference(const QLinearBinary& p, Run<T> a, Run<T> b, T* out, float* real, size_t n);
template <class T> void qlinearFast(const QLinearBinary& p, Run<T> a, Run<T> b, T* out, size_t n);

/// A function of one code, for all 256 of them (index = the code's bits).
struct CodeTable {
    std::array<uint8_t, 256> code;
    std::array<float, 256> real;
};
template <class T> CodeTable makeCodeTable(Grid in, Grid out, const std::function<float(float)>& function);
/// Copies codes when both grids are equal, as the runtime does.
template <class T> CodeTable makeRequantizeTable(Grid in, Grid out);
void lookUp(const CodeTable& table, const uint8_t* in, uint8_t* out, float* real, size_t n);
/// out[i] = table[in[i]].
void lookUpBytes(const std::array<uint8_t, 256>& table, const uint8_t* in, uint8_t* out, size_t n);

/// One spatial axis of a pool window.
struct PoolAxis {
    int64_t in = 1, out = 1, kernel = 1, stride = 1, padBegin = 0;
};
/// Memory of a pooled tensor: `outer` images of in... x `lanes` elements (plain: N*C images of 1 lane; channels last:
/// N images of C lanes).
struct PoolShape {
    std::array<PoolAxis, 3> axes; ///< leading axes of size 1 where there are fewer
    size_t outer = 1, lanes = 1;
    bool countPadding = false;
};
template <class T> void qlinearAveragePool(const PoolShape& p, Grid in, Grid out, const T* x, T* y, float* real);
/// Sum of exact integers over `size` places; `outer` and `lanes` as above.
template <class T>
void qlinearGlobalAveragePool(
    size_t outer, size_t size, size_t lanes, Grid in, Grid out, const T* x, T* y, float* real);

/// Softmax over rows of `n` codes `stride` apart.
struct SoftmaxTable {
    std::array<float, 256> power; ///< e^(scale * (i - 255)), scaled up so that a row's sum keeps its digits
};
SoftmaxTable makeSoftmaxTable(float inputScale, size_t rowLength);
template <class T>
void qlinearSoftmaxRow(const SoftmaxTable& table, Grid out, const T* x, T* y, float* real, size_t n, size_t stride);
/// Several rows of `n` codes behind each other, each as qlinearSoftmaxRow() makes it.
template <class T>
void qlinearSoftmaxRows(const SoftmaxTable& table, Grid out, const T* x, T* y, float* real, size_t rows, size_t n);

} // namespace qs
