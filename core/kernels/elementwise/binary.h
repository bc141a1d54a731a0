// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>

namespace qs {

enum class BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    Pow,
    Max,
    Min,
    ModFloor, ///< remainder with the divisor's sign
    ModTruncate, ///< remainder with the dividend's sign (C's fmod)
    PRelu, ///< a < 0 ? a * b : a
    And,
    Or,
    Xor,
    BitwiseAnd,
    BitwiseOr,
    BitwiseXor,
    ShiftLeft,
    ShiftRight, ///< integers only
};
enum class CompareOp { Equal, Greater, Less, GreaterOrEqual, LessOrEqual };

/// One operand of a run of elements: `stride` 1, or 0 for one value repeated.
template <class W> struct Run {
    const W* data;
    size_t stride;
};

/// One element at a time; W = float, double, int64_t or uint64_t. Integers wrap, division by zero gives 0.
/// `out` may be one of the operands with stride 1.
template <class W> void binaryReference(BinaryOp op, Run<W> a, Run<W> b, W* out, size_t n);
bool binaryTakesFloats(BinaryOp op);
/// The fastest loop for float32.
void binaryFast(BinaryOp op, Run<float> a, Run<float> b, float* out, size_t n);

/// 0 or 1.
template <class W> void compareElements(CompareOp op, Run<W> a, Run<W> b, uint8_t* out, size_t n);

/// out[i] = condition[i] ? x[i] : y[i]; T of the element's size.
template <class T> void selectElements(Run<uint8_t> condition, Run<T> x, Run<T> y, T* out, size_t n)
{
    for (size_t i = 0; i < n; ++i)
        out[i] = condition.data[i * condition.stride] ? x.data[i * x.stride] : y.data[i * y.stride];
}

} // namespace qs
