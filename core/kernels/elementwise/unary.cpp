// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/elementwise/unary.h"

#include <cmath>
#include <type_traits>

namespace qs {

namespace {

template <class W> W sigmoid(W x)
{
    const W e = std::exp(-std::fabs(x));
    return x >= 0 ? 1 / (1 + e) : e / (1 + e);
}

/// log(1 + e^x) without overflow.
template <class W> W softplus(W x) { return (x > 0 ? x : W(0)) + std::log1p(std::exp(-std::fabs(x))); }

template <class W> W clip(W x, W low, W high)
{
    const W raised = x < low ? low : x;
    return raised > high ? high : raised;
}

template <class W, class F> void each(const W* x, W* y, size_t n, F f)
{
    for (size_t i = 0; i < n; ++i)
        y[i] = f(x[i]);
}

/// The functions with parameters: activations.
template <class W> void activation(UnaryOp op, const UnaryParams& p, const W* x, W* y, size_t n)
{
    const W a = static_cast<W>(p.a), b = static_cast<W>(p.b);
    const W low = static_cast<W>(p.low), high = static_cast<W>(p.high);
    switch (op) {
    case UnaryOp::Sigmoid:
        return each(x, y, n, sigmoid<W>);
    case UnaryOp::Relu:
        return each(x, y, n, [](W v) { return v < 0 ? W(0) : v; });
    case UnaryOp::Softplus:
        return each(x, y, n, softplus<W>);
    case UnaryOp::Softsign:
        return each(x, y, n, [](W v) { return v / (1 + std::fabs(v)); });
    case UnaryOp::Mish:
        return each(x, y, n, [](W v) { return v * std::tanh(softplus(v)); });
    case UnaryOp::HardSwish:
        return each(x, y, n, [](W v) { return v * clip(v * W(1.0f / 6.0f) + W(0.5), W(0), W(1)); });
    case UnaryOp::HardSigmoid:
        return each(x, y, n, [=](W v) { return clip(a * v + b, W(0), W(1)); });
    case UnaryOp::LeakyRelu:
        return each(x, y, n, [=](W v) { return v < 0 ? a * v : v; });
    case UnaryOp::Elu:
        return each(x, y, n, [=](W v) { return v < 0 ? a * std::expm1(v) : v; });
    case UnaryOp::Selu:
        return each(x, y, n, [=](W v) { return b * (v > 0 ? v : a * std::expm1(v)); });
    case UnaryOp::Celu:
        return each(x, y, n, [=](W v) { return v > 0 ? v : a * std::expm1(v / a); });
    case UnaryOp::Gelu:
        return each(x, y, n, [](W v) { return W(0.5) * v * std::erfc(-v * W(0.70710678118654752440)); });
    case UnaryOp::GeluTanh:
        return each(x, y, n, [](W v) {
            const W inner = W(0.79788456080286535588) * (v + W(0.044715) * v * v * v);
            return v * sigmoid(2 * inner); // (1 + tanh(t)) / 2 = sigmoid(2 t)
        });
    case UnaryOp::Swish:
        return each(x, y, n, [=](W v) { return v * sigmoid(a * v); });
    case UnaryOp::ThresholdedRelu:
        return each(x, y, n, [=](W v) { return v > a ? v : W(0); });
    case UnaryOp::Shrink:
        return each(x, y, n, [=](W v) { return v < -a ? v + b : v > a ? v - b : W(0); });
    default:
        return each(x, y, n, [=](W v) { return clip(v, low, high); });
    }
}

template <class W> void floatFunction(UnaryOp op, const UnaryParams& p, const W* x, W* y, size_t n)
{
    switch (op) {
    case UnaryOp::Neg:
        return each(x, y, n, [](W v) { return -v; });
    case UnaryOp::Abs:
        return each(x, y, n, [](W v) { return std::fabs(v); });
    case UnaryOp::Ceil:
        return each(x, y, n, [](W v) { return std::ceil(v); });
    case UnaryOp::Floor:
        return each(x, y, n, [](W v) { return std::floor(v); });
    case UnaryOp::Round:
        return each(x, y, n, [](W v) { return std::nearbyint(v); });
    case UnaryOp::Sign:
        return each(x, y, n, [](W v) { return v > 0 ? W(1) : v < 0 ? W(-1) : v; });
    case UnaryOp::Sqrt:
        return each(x, y, n, [](W v) { return std::sqrt(v); });
    case UnaryOp::Reciprocal:
        return each(x, y, n, [](W v) { return 1 / v; });
    case UnaryOp::Exp:
        return each(x, y, n, [](W v) { return std::exp(v); });
    case UnaryOp::Log:
        return each(x, y, n, [](W v) { return std::log(v); });
    case UnaryOp::Erf:
        return each(x, y, n, [](W v) { return std::erf(v); });
    case UnaryOp::Sin:
        return each(x, y, n, [](W v) { return std::sin(v); });
    case UnaryOp::Cos:
        return each(x, y, n, [](W v) { return std::cos(v); });
    case UnaryOp::Tan:
        return each(x, y, n, [](W v) { return std::tan(v); });
    case UnaryOp::Asin:
        return each(x, y, n, [](W v) { return std::asin(v); });
    case UnaryOp::Acos:
        return each(x, y, n, [](W v) { return std::acos(v); });
    case UnaryOp::Atan:
        return each(x, y, n, [](W v) { return std::atan(v); });
    case UnaryOp::Sinh:
        return each(x, y, n, [](W v) { return std::sinh(v); });
    case UnaryOp::Cosh:
        return each(x, y, n, [](W v) { return std::cosh(v); });
    case UnaryOp::Asinh:
        return each(x, y, n, [](W v) { return std::asinh(v); });
    case UnaryOp::Acosh:
        return each(x, y, n, [](W v) { return std::acosh(v); });
    case UnaryOp::Atanh:
        return each(x, y, n, [](W v) { return std::atanh(v); });
    case UnaryOp::Tanh:
        return each(x, y, n, [](W v) { return std::tanh(v); });
    default:
        return activation(op, p, x, y, n);
    }
}

template <class W> void integerFunction(UnaryOp op, const UnaryParams& p, const W* x, W* y, size_t n)
{
    const W low = static_cast<W>(p.lowInt), high = static_cast<W>(p.highInt);
    switch (op) {
    case UnaryOp::Neg:
        return each(x, y, n, [](W v) { return static_cast<W>(0 - static_cast<uint64_t>(v)); });
    case UnaryOp::Abs:
        return each(x, y, n, [](W v) { return v < W(0) ? static_cast<W>(0 - static_cast<uint64_t>(v)) : v; });
    case UnaryOp::Sign:
        return each(x, y, n, [](W v) { return static_cast<W>(v > W(0) ? 1 : v < W(0) ? -1 : 0); });
    case UnaryOp::Relu:
        return each(x, y, n, [](W v) { return v < W(0) ? W(0) : v; });
    case UnaryOp::Not:
        return each(x, y, n, [](W v) { return W(v == 0); });
    case UnaryOp::BitwiseNot:
        return each(x, y, n, [](W v) { return static_cast<W>(~v); });
    default:
        return each(x, y, n, [=](W v) { return clip(v, low, high); });
    }
}

} // namespace

bool unaryTakesIntegers(UnaryOp op)
{
    switch (op) {
    case UnaryOp::Neg:
    case UnaryOp::Abs:
    case UnaryOp::Sign:
    case UnaryOp::Relu:
    case UnaryOp::Not:
    case UnaryOp::BitwiseNot:
    case UnaryOp::Clip:
        return true;
    default:
        return false;
    }
}

template <class W> void unaryReference(UnaryOp op, const UnaryParams& p, const W* x, W* y, size_t n)
{
    if constexpr (std::is_floating_point_v<W>)
        floatFunction(op, p, x, y, n);
    else
        integerFunction(op, p, x, y, n);
}

template <class W> void isInfinite(const W* x, bool positive, bool negative, uint8_t* y, size_t n)
{
    for (size_t i = 0; i < n; ++i)
        y[i] = std::isinf(x[i]) && (x[i] > 0 ? positive : negative);
}

template <class W> void isNotANumber(const W* x, uint8_t* y, size_t n)
{
    for (size_t i = 0; i < n; ++i)
        y[i] = std::isnan(x[i]);
}

template void unaryReference(UnaryOp, const UnaryParams&, const float*, float*, size_t);
template void unaryReference(UnaryOp, const UnaryParams&, const double*, double*, size_t);
template void unaryReference(UnaryOp, const UnaryParams&, const int64_t*, int64_t*, size_t);
template void unaryReference(UnaryOp, const UnaryParams&, const uint64_t*, uint64_t*, size_t);
template void isInfinite(const float*, bool, bool, uint8_t*, size_t);
template void isInfinite(const double*, bool, bool, uint8_t*, size_t);
template void isNotANumber(const float*, uint8_t*, size_t);
template void isNotANumber(const double*, uint8_t*, size_t);

} // namespace qs
