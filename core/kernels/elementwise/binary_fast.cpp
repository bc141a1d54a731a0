// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/elementwise/binary.h"

#include "core/kernels/cpu/highway_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/elementwise/binary_fast.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace qs::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

/// f on vectors and, for the last few elements, on the first lane of a vector.
template <class F> void each(Run<float> a, Run<float> b, float* out, size_t n, F f)
{
    const D d;
    const size_t lanes = hn::Lanes(d);
    size_t i = 0;
    if (a.stride && b.stride) {
        for (; i + lanes <= n; i += lanes)
            hn::StoreU(f(hn::LoadU(d, a.data + i), hn::LoadU(d, b.data + i)), d, out + i);
    } else if (a.stride) {
        const V vb = hn::Set(d, *b.data);
        for (; i + lanes <= n; i += lanes)
            hn::StoreU(f(hn::LoadU(d, a.data + i), vb), d, out + i);
    } else if (b.stride) {
        const V va = hn::Set(d, *a.data);
        for (; i + lanes <= n; i += lanes)
            hn::StoreU(f(va, hn::LoadU(d, b.data + i)), d, out + i);
    }
    for (; i < n; ++i)
        out[i] = hn::GetLane(f(hn::Set(d, a.data[i * a.stride]), hn::Set(d, b.data[i * b.stride])));
}

void binary(BinaryOp op, Run<float> a, Run<float> b, float* out, size_t n)
{
    switch (op) {
    case BinaryOp::Add:
        return each(a, b, out, n, [](V x, V y) { return hn::Add(x, y); });
    case BinaryOp::Sub:
        return each(a, b, out, n, [](V x, V y) { return hn::Sub(x, y); });
    case BinaryOp::Mul:
        return each(a, b, out, n, [](V x, V y) { return hn::Mul(x, y); });
    case BinaryOp::Div:
        return each(a, b, out, n, [](V x, V y) { return hn::Div(x, y); });
    case BinaryOp::Max:
        return each(a, b, out, n, [](V x, V y) { return hn::IfThenElse(hn::Or(hn::Gt(x, y), hn::IsNaN(x)), x, y); });
    case BinaryOp::Min:
        return each(a, b, out, n, [](V x, V y) { return hn::IfThenElse(hn::Or(hn::Lt(x, y), hn::IsNaN(x)), x, y); });
    case BinaryOp::PRelu:
        return each(a, b, out, n, [](V x, V y) { return hn::IfThenElse(hn::Lt(x, hn::Zero(D())), hn::Mul(x, y), x); });
    case BinaryOp::Pow:
        if (b.stride == 0 && n > 0 && *b.data == 2.0f) // variances and norms
            return each(a, a, out, n, [](V x, V y) { return hn::Mul(x, y); });
        return binaryReference(op, a, b, out, n);
    default:
        return binaryReference(op, a, b, out, n);
    }
}

} // namespace
} // namespace qs::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace qs {
HWY_EXPORT(binary);

void binaryFast(BinaryOp op, Run<float> a, Run<float> b, float* out, size_t n)
{
    HWY_DYNAMIC_DISPATCH(binary)(op, a, b, out, n);
}

} // namespace qs
#endif
