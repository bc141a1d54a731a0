// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/pair_sums.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/pair_sums.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace qs::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// One pass over whole vectors; returns how many elements it took. Vectors that hold a non-finite element are left to
/// the reference (they are rare).
template <bool kHasP, bool kHasQuantizer>
size_t addVectorsOf(PairSums& s, const float* HWY_RESTRICT x, const float* HWY_RESTRICT y, const float* HWY_RESTRICT p,
    size_t n, const PairQuantizer* quantizer, const PairActivation& activation)
{
    const hn::ScalableTag<double> dd;
    const hn::Rebind<float, decltype(dd)> df; // as many floats as doubles fit in a vector
    const size_t lanes = hn::Lanes(dd);
    using VD = hn::Vec<decltype(dd)>;
    using VF = hn::Vec<decltype(df)>;
    const VD zero = hn::Zero(dd);
    VD xx = zero, yy = zero, xy = zero, ee = zero, e = zero, localEe = zero, pp = zero, qdqEe = zero, rounding = zero,
       clipping = zero, inherited = zero, clipped = zero, maxError = zero;
    VF lowX = hn::Set(df, std::numeric_limits<float>::infinity()), highX = hn::Neg(lowX), lowA = lowX, highA = highX;
    const VF actLow = hn::Set(df, activation.low), actHigh = hn::Set(df, activation.high);
    const float scale = quantizer ? quantizer->scale : 1.0f;
    const VF vScale = hn::Set(df, scale);
    const VF zeroPoint = hn::Set(df, quantizer ? float(quantizer->zeroPoint) : 0.0f);
    const VF low = hn::Set(df, quantizer ? float(quantizer->low) : 0.0f),
             high = hn::Set(df, quantizer ? float(quantizer->high) : 0.0f);
    const VD lowest = hn::Set(
        dd, quantizer ? double(scale) * (double(quantizer->low) - quantizer->zeroPoint) - double(scale) / 2 : 0.0);
    const VD highest = hn::Set(
        dd, quantizer ? double(scale) * (double(quantizer->high) - quantizer->zeroPoint) + double(scale) / 2 : 0.0);
    const VD one = hn::Set(dd, 1.0);
    size_t i = 0, taken = 0;
    for (; i + lanes <= n; i += lanes) {
        const VF xf = hn::LoadU(df, x + i), yf = hn::LoadU(df, y + i), pf = kHasP ? hn::LoadU(df, p + i) : yf;
        const auto finite = hn::And(hn::And(hn::IsFinite(xf), hn::IsFinite(yf)), hn::IsFinite(pf));
        if (HWY_UNLIKELY(!hn::AllTrue(df, finite))) {
            addPairSumsReference(s, x + i, y + i, p ? p + i : nullptr, lanes, quantizer, activation);
            continue;
        }
        taken += lanes;
        const VF af = kHasP ? hn::Min(hn::Max(pf, actLow), actHigh) : pf;
        lowX = hn::Min(lowX, xf);
        highX = hn::Max(highX, xf);
        lowA = hn::Min(lowA, af);
        highA = hn::Max(highA, af);
        const VD xd = hn::PromoteTo(dd, xf), yd = hn::PromoteTo(dd, yf), pd = hn::PromoteTo(dd, pf),
                 a = hn::PromoteTo(dd, af);
        const VD error = hn::Sub(yd, xd);
        xx = hn::Add(xx, hn::Mul(xd, xd));
        yy = hn::Add(yy, hn::Mul(yd, yd));
        xy = hn::Add(xy, hn::Mul(xd, yd));
        ee = hn::Add(ee, hn::Mul(error, error));
        e = hn::Add(e, error);
        maxError = hn::Max(maxError, hn::Abs(error));
        const VD made = kHasP ? hn::Mul(error, hn::Sub(yd, a)) : zero;
        if constexpr (kHasP) { // else p = y: all error is inherited
            inherited = hn::Add(inherited, hn::Mul(error, hn::Sub(a, xd)));
            pp = hn::Add(pp, hn::Mul(pd, pd));
            const VD own = hn::Sub(yd, pd);
            qdqEe = hn::Add(qdqEe, hn::Mul(own, own));
        }
        if constexpr (kHasQuantizer) {
            const auto outside = hn::Or(hn::Lt(a, lowest), hn::Gt(a, highest));
            clipping = hn::Add(clipping, hn::IfThenElseZero(outside, made));
            rounding = hn::Add(rounding, hn::IfThenZeroElse(outside, made));
            clipped = hn::Add(clipped, hn::IfThenElseZero(outside, one));
            const VF code = hn::Min(hn::Max(hn::Add(hn::Round(hn::Div(xf, vScale)), zeroPoint), low), high);
            const VD local = hn::Sub(hn::PromoteTo(dd, hn::Mul(hn::Sub(code, zeroPoint), vScale)), xd);
            localEe = hn::Add(localEe, hn::Mul(local, local));
        } else if constexpr (kHasP) {
            rounding = hn::Add(rounding, made);
        }
    }
    if constexpr (!kHasP) {
        inherited = ee;
        pp = yy;
    }
    auto sum = [&](VD v) { return hn::GetLane(hn::SumOfLanes(dd, v)); };
    s.count += taken;
    s.clipped += uint64_t(sum(clipped));
    s.xx += sum(xx);
    s.yy += sum(yy);
    s.xy += sum(xy);
    s.ee += sum(ee);
    s.e += sum(e);
    s.localEe += sum(localEe);
    s.pp += sum(pp);
    s.qdqEe += sum(qdqEe);
    s.rounding += sum(rounding);
    s.clipping += sum(clipping);
    s.inherited += sum(inherited);
    if (taken > 0) {
        HWY_ALIGN float lane[HWY_MAX_BYTES / sizeof(float)];
        HWY_ALIGN double wide[HWY_MAX_BYTES / sizeof(double)];
        auto each = [&](VF v, auto fn) {
            hn::Store(v, df, lane);
            for (size_t k = 0; k < lanes; ++k)
                fn(double(lane[k]));
        };
        each(lowX, [&](double v) { s.lowX = v < s.lowX ? v : s.lowX; });
        each(highX, [&](double v) { s.highX = v > s.highX ? v : s.highX; });
        each(lowA, [&](double v) { s.lowA = v < s.lowA ? v : s.lowA; });
        each(highA, [&](double v) { s.highA = v > s.highA ? v : s.highA; });
        hn::Store(maxError, dd, wide);
        for (size_t k = 0; k < lanes; ++k)
            s.maxError = wide[k] > s.maxError ? wide[k] : s.maxError;
    }
    return i;
}

size_t addVectors(PairSums& s, const float* x, const float* y, const float* p, size_t n, const PairQuantizer* quantizer,
    const PairActivation& activation)
{
    if (p)
        return quantizer ? addVectorsOf<true, true>(s, x, y, p, n, quantizer, activation)
                         : addVectorsOf<true, false>(s, x, y, p, n, quantizer, activation);
    return quantizer ? addVectorsOf<false, true>(s, x, y, p, n, quantizer, activation)
                     : addVectorsOf<false, false>(s, x, y, p, n, quantizer, activation);
}

} // namespace qs::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace qs {

HWY_EXPORT(addVectors);

void addPairSums(PairSums& sums, const float* x, const float* y, const float* p, size_t n,
    const PairQuantizer* quantizer, const PairActivation& activation)
{
    const size_t done = HWY_DYNAMIC_DISPATCH(addVectors)(sums, x, y, p, n, quantizer, activation);
    if (done < n)
        addPairSumsReference(sums, x + done, y + done, p ? p + done : nullptr, n - done, quantizer, activation);
}

} // namespace qs
#endif
