// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/quantize/qlinear.h"

#include "core/base/rounding.h"
#include "core/kernels/cpu/highway_targets.h"
#include "core/kernels/quantize/qlinear_wide.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/quantize/qlinear_fast.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

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

/// The largest of n >= 1 codes.
template <class T> int largest(const T* x, size_t n)
{
    const hn::ScalableTag<T> d;
    size_t i = 0;
    auto top = hn::Set(d, std::numeric_limits<T>::min());
    for (const size_t lanes = hn::Lanes(d); i + lanes <= n; i += lanes)
        top = hn::Max(top, hn::LoadU(d, x + i));
    T lanes[hn::MaxLanes(d)];
    hn::StoreU(top, d, lanes);
    int best = *std::max_element(lanes, lanes + hn::Lanes(d));
    for (; i < n; ++i)
        best = std::max<int>(best, x[i]);
    return best;
}

/// Codes of powers that are scaled to a row's sum; in float64, since a power times the steps may leave float32.
template <class T>
void softmaxCodes(const float* powers, double steps, double sum, Grid out, T* y, float* real, size_t n)
{
    const hn::ScalableTag<double> d;
    const hn::Rebind<float, hn::ScalableTag<double>> df;
    const hn::Rebind<int32_t, hn::ScalableTag<double>> di;
    const hn::Rebind<T, hn::ScalableTag<double>> narrow;
    const auto count = hn::Set(d, steps), all = hn::Set(d, sum), scale = hn::Set(d, double(out.scale));
    const auto zero = hn::Set(di, out.zeroPoint);
    size_t i = 0;
    for (const size_t lanes = hn::Lanes(d); i + lanes <= n; i += lanes) {
        const auto v = hn::Div(hn::Mul(hn::PromoteTo(d, hn::LoadU(df, powers + i)), count), all);
        const auto codes = hn::Add(hn::DemoteTo(di, hn::Round(v)), zero);
        hn::StoreU(hn::DemoteTo(narrow, codes), narrow, y + i);
        if (real)
            hn::StoreU(hn::DemoteTo(df, hn::Mul(v, scale)), df, real + i);
    }
    for (; i < n; ++i) {
        const double v = double(powers[i]) * steps / sum;
        y[i] = saturateTo<T>(static_cast<int64_t>(roundHalfEven(v)) + out.zeroPoint);
        if (real)
            real[i] = static_cast<float>(v * double(out.scale));
    }
}

/// Sums are added up in the order of the codes, so rows are taken side by side. Returns how many rows were done.
template <class T>
size_t softmaxRows(const SoftmaxTable& table, Grid out, const T* x, T* y, float* real, size_t rows, size_t n)
{
    constexpr size_t kTogether = 8;
    const float steps = std::floor(1.0f / out.scale);
    if (n == 0 || !(steps >= 0 && steps < float(1 << 24)))
        return 0;
    std::vector<float> powers(kTogether * n);
    size_t done = 0;
    for (; done + kTogether <= rows; done += kTogether) {
        const T* const codes = x + done * n;
        std::array<int, kTogether> shift;
        std::array<float, kTogether> sums {};
        for (size_t r = 0; r < kTogether; ++r)
            shift[r] = 255 - largest(codes + r * n, n);
        for (size_t i = 0; i < n; ++i)
            for (size_t r = 0; r < kTogether; ++r) {
                const float power = table.power[static_cast<size_t>(codes[r * n + i] + shift[r])];
                powers[r * n + i] = power;
                sums[r] += power;
            }
        if (!std::all_of(sums.begin(), sums.end(), [](float sum) { return std::isfinite(sum) && sum > 0; }))
            return done;
        for (size_t r = 0; r < kTogether; ++r) {
            const size_t at = (done + r) * n;
            softmaxCodes(&powers[r * n], double(steps), double(sums[r]), out, y + at, real ? real + at : nullptr, n);
        }
    }
    return done;
}

size_t softmaxU8(const SoftmaxTable& table, Grid out, const uint8_t* x, uint8_t* y, float* real, size_t rows, size_t n)
{
    return softmaxRows(table, out, x, y, real, rows, n);
}
size_t softmaxS8(const SoftmaxTable& table, Grid out, const int8_t* x, int8_t* y, float* real, size_t rows, size_t n)
{
    return softmaxRows(table, out, x, y, real, rows, n);
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
HWY_EXPORT(softmaxU8);
HWY_EXPORT(softmaxS8);

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

namespace {

/// The rows behind those that were done side by side.
template <class T>
void otherSoftmaxRows(
    const SoftmaxTable& table, Grid out, const T* x, T* y, float* real, size_t r, size_t rows, size_t n)
{
    for (; r < rows; ++r)
        qlinearSoftmaxRow(table, out, x + r * n, y + r * n, real ? real + r * n : nullptr, n, 1);
}

} // namespace

template <>
void qlinearSoftmaxRows(
    const SoftmaxTable& table, Grid out, const uint8_t* x, uint8_t* y, float* real, size_t rows, size_t n)
{
    otherSoftmaxRows(table, out, x, y, real, HWY_DYNAMIC_DISPATCH(softmaxU8)(table, out, x, y, real, rows, n), rows, n);
}
template <>
void qlinearSoftmaxRows(
    const SoftmaxTable& table, Grid out, const int8_t* x, int8_t* y, float* real, size_t rows, size_t n)
{
    otherSoftmaxRows(table, out, x, y, real, HWY_DYNAMIC_DISPATCH(softmaxS8)(table, out, x, y, real, rows, n), rows, n);
}

} // namespace qs
#endif
