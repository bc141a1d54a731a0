// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>

namespace qs {

/// Functions of one element. a, b, c are the parameters of UnaryParams.
enum class UnaryOp {
    Neg,
    Abs,
    Ceil,
    Floor,
    Round,
    Sign,
    Sqrt,
    Reciprocal,
    Exp,
    Log,
    Erf,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Asinh,
    Acosh,
    Atanh,
    Sigmoid,
    Tanh,
    Relu,
    Softplus,
    Softsign,
    Mish,
    HardSwish,
    HardSigmoid, ///< clamp(a x + b, 0, 1)
    LeakyRelu, ///< x < 0 ? a x : x
    Elu, ///< x < 0 ? a (e^x - 1) : x
    Selu, ///< b (x > 0 ? x : a (e^x - 1))
    Celu, ///< max(0, x) + min(0, a (e^(x/a) - 1))
    Gelu, ///< x / 2 (1 + erf(x / sqrt 2))
    GeluTanh, ///< the tanh approximation of Gelu
    Swish, ///< x sigmoid(a x)
    ThresholdedRelu, ///< x > a ? x : 0
    Shrink, ///< x < -a ? x + b : x > a ? x - b : 0
    Clip, ///< min(max(x, low), high)
    Not,
    BitwiseNot, ///< integers only
};

struct UnaryParams {
    double a = 0, b = 0;
    double low = 0, high = 0; ///< Clip of floats
    int64_t lowInt = 0, highInt = 0; ///< Clip of integers (bits of uint64_t for unsigned ones)
};

/// One element at a time by the textbook formula; W = float, double, int64_t or uint64_t. x == y is allowed.
template <class W> void unaryReference(UnaryOp op, const UnaryParams& p, const W* x, W* y, size_t n);
/// False when integers have no such function.
bool unaryTakesIntegers(UnaryOp op);
/// The fastest loop for float32; x == y is allowed.
void unaryFast(UnaryOp op, const UnaryParams& p, const float* x, float* y, size_t n);

/// "Is infinite" of the chosen signs and "is not a number", as 0 or 1.
template <class W> void isInfinite(const W* x, bool positive, bool negative, uint8_t* y, size_t n);
template <class W> void isNotANumber(const W* x, uint8_t* y, size_t n);

} // namespace qs
