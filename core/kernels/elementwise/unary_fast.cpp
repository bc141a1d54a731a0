// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/elementwise/unary.h"

#include "core/kernels/cpu/highway_targets.h"

#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/elementwise/unary_fast.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace qs::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

/// Every element goes through the same vector code, the last ones padded, so that an element's value does not depend
/// on its place.
template <class F> void each(const float* x, float* y, size_t n, F f)
{
    const D d;
    const size_t lanes = hn::Lanes(d);
    size_t i = 0;
    for (; i + lanes <= n; i += lanes)
        hn::StoreU(f(d, hn::LoadU(d, x + i)), d, y + i);
    if (i == n)
        return;
    HWY_ALIGN float rest[hn::MaxLanes(D())] = {};
    for (size_t k = i; k < n; ++k)
        rest[k - i] = x[k];
    hn::Store(f(d, hn::Load(d, rest)), d, rest);
    for (size_t k = i; k < n; ++k)
        y[k] = rest[k - i];
}

/// Keeps NaN of v, whatever the instruction set's minimum and maximum do.
HWY_INLINE V clampKeepingNaN(V v, V low, V high)
{
    const V raised = hn::IfThenElse(hn::Lt(v, low), low, v);
    return hn::IfThenElse(hn::Gt(raised, high), high, raised);
}

HWY_INLINE V sigmoid(D d, V x)
{
    const V one = hn::Set(d, 1.0f);
    const V e = hn::Exp(d, hn::Neg(hn::Abs(x)));
    const V denominator = hn::Add(one, e);
    const V y = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Div(e, denominator), hn::Div(one, denominator));
    return hn::IfThenElse(hn::IsNaN(x), x, y);
}

/// Within 1 ulp; overflows to infinity and keeps NaN.
HWY_INLINE V exponential(D d, V x)
{
    const V infinity = hn::Set(d, std::numeric_limits<float>::infinity());
    const V y = hn::IfThenElse(hn::Gt(x, hn::Set(d, 88.8f)), infinity, hn::Exp(d, hn::Min(x, hn::Set(d, 88.8f))));
    return hn::IfThenElse(hn::IsNaN(x), x, y);
}

/// Error below 1.5e-7 of the result. Below 1 a polynomial for erf(x) / x in x^2, above it erf(x) = 1 - e^-p(x) with a
/// polynomial p for -log(erfc(x)); both interpolate at Chebyshev points (of [0, 1] and [1, 4]).
HWY_INLINE V errorFunction(D d, V x)
{
    const auto k = [d](float v) { return hn::Set(d, v); };
    const V z = hn::Mul(x, x);
    V small = k(-9.667043741501402e-06f);
    for (const float c : { 0.0001126595867759761f, -0.0008484080348125644f, 0.005221031803158027f,
             -0.02686543072569947f, 0.11283782495197922f, -0.3761263846802593f, 1.128379167061543f })
        small = hn::MulAdd(small, z, k(c));
    const V a = hn::Min(hn::Abs(x), k(4.0f));
    V large = k(-1.6371514514807604e-06f);
    for (const float c :
        { 4.6058043409720465e-05f, -0.0005968056316589719f, 0.004759596321008475f, -0.026421136083491458f,
            0.11008008308420324f, 0.6318260514167598f, 1.1302334349247223f, -0.00032013806999220407f })
        large = hn::MulAdd(large, a, k(c));
    const V tail = hn::CopySign(hn::Sub(k(1.0f), hn::Exp(d, hn::Neg(large))), x);
    const V y = hn::IfThenElse(hn::Lt(hn::Abs(x), k(1.0f)), hn::Mul(x, small), tail);
    return hn::IfThenElse(hn::IsNaN(x), x, y);
}

void unary(UnaryOp op, const UnaryParams& p, const float* x, float* y, size_t n)
{
    const D dd;
    const V a = hn::Set(dd, static_cast<float>(p.a)), b = hn::Set(dd, static_cast<float>(p.b));
    const V low = hn::Set(dd, static_cast<float>(p.low)), high = hn::Set(dd, static_cast<float>(p.high));
    const V zero = hn::Zero(dd), one = hn::Set(dd, 1.0f);
    switch (op) {
    case UnaryOp::Neg:
        return each(x, y, n, [](D, V v) { return hn::Neg(v); });
    case UnaryOp::Abs:
        return each(x, y, n, [](D, V v) { return hn::Abs(v); });
    case UnaryOp::Sqrt:
        return each(x, y, n, [](D, V v) { return hn::Sqrt(v); });
    case UnaryOp::Reciprocal:
        return each(x, y, n, [=](D, V v) { return hn::Div(one, v); });
    case UnaryOp::Relu:
        return each(x, y, n, [=](D, V v) { return hn::IfThenElse(hn::Lt(v, zero), zero, v); });
    case UnaryOp::LeakyRelu:
        return each(x, y, n, [=](D, V v) { return hn::IfThenElse(hn::Lt(v, zero), hn::Mul(a, v), v); });
    case UnaryOp::HardSigmoid:
        return each(x, y, n, [=](D, V v) { return clampKeepingNaN(hn::Add(hn::Mul(a, v), b), zero, one); });
    case UnaryOp::HardSwish:
        return each(x, y, n, [=](D d, V v) {
            const V gate = hn::Add(hn::Mul(v, hn::Set(d, 1.0f / 6.0f)), hn::Set(d, 0.5f));
            return hn::Mul(v, clampKeepingNaN(gate, zero, one));
        });
    case UnaryOp::Clip:
        return each(x, y, n, [=](D, V v) { return clampKeepingNaN(v, low, high); });
    case UnaryOp::Exp:
        return each(x, y, n, [](D d, V v) { return exponential(d, v); });
    case UnaryOp::Erf:
        return each(x, y, n, [](D d, V v) { return errorFunction(d, v); });
    case UnaryOp::Gelu:
        return each(x, y, n, [](D d, V v) {
            const V half = hn::Mul(v, hn::Set(d, 0.5f));
            return hn::MulAdd(half, errorFunction(d, hn::Mul(v, hn::Set(d, 0.70710678118654752440f))), half);
        });
    case UnaryOp::Sigmoid:
        return each(x, y, n, [](D d, V v) { return sigmoid(d, v); });
    case UnaryOp::Tanh:
        return each(x, y, n, [](D d, V v) { return hn::IfThenElse(hn::IsNaN(v), v, hn::Tanh(d, v)); });
    case UnaryOp::GeluTanh:
        return each(x, y, n, [](D d, V v) { // (1 + tanh(t)) / 2 = sigmoid(2 t)
            const V cube = hn::Mul(hn::Mul(v, v), v);
            const V inner = hn::Add(v, hn::Mul(hn::Set(d, 0.044715f), cube));
            return hn::Mul(v, sigmoid(d, hn::Mul(hn::Set(d, 2 * 0.79788456080286535588f), inner)));
        });
    case UnaryOp::Swish:
        return each(x, y, n, [=](D d, V v) { return hn::Mul(v, sigmoid(d, hn::Mul(a, v))); });
    default:
        return unaryReference(op, p, x, y, n);
    }
}

} // namespace
} // namespace qs::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace qs {
HWY_EXPORT(unary);

void unaryFast(UnaryOp op, const UnaryParams& p, const float* x, float* y, size_t n)
{
    HWY_DYNAMIC_DISPATCH(unary)(op, p, x, y, n);
}

} // namespace qs
#endif
