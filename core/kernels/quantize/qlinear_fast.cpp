// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/quantize/qlinear.h"

#include "core/kernels/cpu/highway_targets.h"
#include "core/kernels/quantize/qlinear_wide.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/quantize/qlinear_fast.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cmath>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace qs::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using DI = hn::RebindToSigned<D>;
using V = hn::Vec<D>;
using VI = hn::Vec<DI>;

template <class T> HWY_INLINE VI load(Run<T> r, size_t i)
{
    if (r.stride == 0)
        return hn::Set(DI(), int32_t(*r.data));
    return hn::PromoteTo(DI(), hn::LoadU(hn::Rebind<T, DI>(), r.data + i));
}

template <class T> HWY_INLINE void store(V v, T* out)
{
    const D d;
    v = hn::Min(
        hn::Max(v, hn::Set(d, float(std::numeric_limits<T>::min()))), hn::Set(d, float(std::numeric_limits<T>::max())));
    hn::StoreU(hn::DemoteTo(hn::Rebind<T, D>(), hn::NearestInt(v)), hn::Rebind<T, D>(), out);
}

/// The first elements in whole vectors; returns how many were done.
template <class T> size_t add(const QLinearBinary& p, Run<T> a, Run<T> b, T* out, size_t n)
{
    const D d;
    const float ra = p.a.scale / p.out.scale, rb = p.b.scale / p.out.scale;
    const float shift = std::fma(ra, float(p.a.zeroPoint), rb * float(p.b.zeroPoint));
    const V fixed = hn::Set(d, float(p.out.zeroPoint) - shift), va = hn::Set(d, ra), vb = hn::Set(d, rb);
    size_t i = 0;
    for (const size_t lanes = hn::Lanes(d); i + lanes <= n; i += lanes) {
        const V second = hn::MulAdd(hn::ConvertTo(d, load(b, i)), vb, fixed);
        store(hn::MulAdd(hn::ConvertTo(d, load(a, i)), va, second), out + i);
    }
    return i;
}

template <class T> size_t multiply(const QLinearBinary& p, Run<T> a, Run<T> b, T* out, size_t n)
{
    const D d;
    const DI di;
    const V ratio = hn::Set(d, p.a.scale * p.b.scale / p.out.scale), zero = hn::Set(d, float(p.out.zeroPoint));
    const VI za = hn::Set(di, p.a.zeroPoint), zb = hn::Set(di, p.b.zeroPoint);
    size_t i = 0;
    for (const size_t lanes = hn::Lanes(d); i + lanes <= n; i += lanes) {
        const VI product = hn::Mul(hn::Sub(load(a, i), za), hn::Sub(load(b, i), zb));
        store(hn::Add(hn::Mul(hn::ConvertTo(d, product), ratio), zero), out + i);
    }
    return i;
}

template <class T> void binary(const QLinearBinary& p, Run<T> a, Run<T> b, T* out, size_t n)
{
    size_t done = 0;
    if (p.op == BinaryOp::Mul)
        done = multiply(p, a, b, out, n);
#if HWY_TARGET == HWY_AVX2 // the sum needs fused steps: without them only the reference is exact
    else if (a.stride == 0 && b.stride != 0)
        done = add<T>({ p.op, p.b, p.a, p.out }, b, a, out, n);
    else
        done = add(p, a, b, out, n);
#endif
    qlinearReference<T>(p, { a.data + done * a.stride, a.stride }, { b.data + done * b.stride, b.stride }, out + done,
        nullptr, n - done);
}

void binaryU8(const QLinearBinary& p, Run<uint8_t> a, Run<uint8_t> b, uint8_t* out, size_t n)
{
    binary(p, a, b, out, n);
}
void binaryS8(const QLinearBinary& p, Run<int8_t> a, Run<int8_t> b, int8_t* out, size_t n) { binary(p, a, b, out, n); }

} // namespace
} // namespace qs::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace qs {
HWY_EXPORT(binaryU8);
HWY_EXPORT(binaryS8);

namespace {

/// What the widest vectors leave; they start at the first element.
template <class T, class Rest> void addWide(const QLinearBinary& p, Run<T> a, Run<T> b, T* out, size_t n, Rest rest)
{
    size_t done = 0;
    if (p.op == BinaryOp::Add && a.stride == 1 && b.stride == 1)
        done = addCodesWide(p, a.data, b.data, out, n);
    if (done < n)
        rest(p, Run<T> { a.data + done * a.stride, a.stride }, Run<T> { b.data + done * b.stride, b.stride },
            out + done, n - done);
}

} // namespace

template <> void qlinearFast(const QLinearBinary& p, Run<uint8_t> a, Run<uint8_t> b, uint8_t* out, size_t n)
{
    addWide(p, a, b, out, n, HWY_DYNAMIC_DISPATCH(binaryU8));
}
template <> void qlinearFast(const QLinearBinary& p, Run<int8_t> a, Run<int8_t> b, int8_t* out, size_t n)
{
    addWide(p, a, b, out, n, HWY_DYNAMIC_DISPATCH(binaryS8));
}

} // namespace qs
#endif
