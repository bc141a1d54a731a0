// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/unary.h"

#include "core/kernels/highway_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/unary_fast.cpp"
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
