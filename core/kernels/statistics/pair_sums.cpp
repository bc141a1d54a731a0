// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/statistics/pair_sums.h"

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/statistics/pair_sums.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace qs::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Wide = hn::ScalableTag<double>;
using Half = hn::Rebind<float, Wide>; // as many floats as doubles fit in a vector
using Full = hn::ScalableTag<float>;

template <class D> void foldLow(D d, hn::Vec<D> v, auto& target)
{
    const auto low = hn::GetLane(hn::MinOfLanes(d, v));
    target = low < target ? low : target;
}

template <class D> void foldHigh(D d, hn::Vec<D> v, auto& target)
{
    const auto high = hn::GetLane(hn::MaxOfLanes(d, v));
    target = high > target ? high : target;
}

/// One pass over whole vectors as if all elements were finite and none clipped: all noise made here goes to rounding.
/// Where an element is not finite, neither is xx, yy or pp. Returns how many elements it took.
template <bool kHasP, bool kBounded, bool kHasQuantizer, bool kExtremes>
size_t sumVectorsOf(PairSums& s, PairExtremes& extremes, const PairRun& run)
{
    const Wide dd;
    const Half dh;
    const Full df;
    const size_t lanes = hn::Lanes(df), part = hn::Lanes(dd);
    using VD = hn::Vec<Wide>;
    using VF = hn::Vec<Full>;
    const float *const HWY_RESTRICT x = run.x, *const HWY_RESTRICT y = run.y, *const HWY_RESTRICT p = run.p;
    const VD zero = hn::Zero(dd);
    VD xx = zero, yy = zero, xy = zero, ee = zero, e = zero, localEe = zero, pp = zero, qdqEe = zero, made = zero,
       inherited = zero, maxError = zero;
    VF lowX = hn::Set(df, std::numeric_limits<float>::infinity()), highX = hn::Neg(lowX), lowY = lowX, highY = highX,
       lowE = lowX, highE = highX, lowA = lowX, highA = highX;
    const VF actLow = hn::Set(df, run.activation.low), actHigh = hn::Set(df, run.activation.high);
    const auto boundLow = hn::Set(dh, run.activation.low), boundHigh = hn::Set(dh, run.activation.high);
    const PairQuantizer q = kHasQuantizer ? *run.quantizer : PairQuantizer {};
    const VF scale = hn::Set(df, q.scale), zeroPoint = hn::Set(df, float(q.zeroPoint)), low = hn::Set(df, float(q.low)),
             high = hn::Set(df, float(q.high));
    size_t i = 0;
    for (; i + lanes <= run.n; i += lanes) {
        const VF xf = hn::LoadU(df, x + i), yf = hn::LoadU(df, y + i);
        lowX = hn::Min(lowX, xf);
        highX = hn::Max(highX, xf);
        if constexpr (kExtremes || !kHasP) {
            lowY = hn::Min(lowY, yf);
            highY = hn::Max(highY, yf);
        }
        if constexpr (kExtremes) {
            const VF ef = hn::Sub(yf, xf);
            hn::StoreU(ef, df, run.error + i);
            lowE = hn::Min(lowE, ef);
            highE = hn::Max(highE, ef);
        }
        if constexpr (kHasP) {
            VF af = hn::LoadU(df, p + i);
            if constexpr (kBounded)
                af = hn::Min(hn::Max(af, actLow), actHigh);
            lowA = hn::Min(lowA, af);
            highA = hn::Max(highA, af);
        }
        HWY_ALIGN float local[HWY_MAX_BYTES / sizeof(float)];
        if constexpr (kHasQuantizer) {
            const VF code = hn::Min(hn::Max(hn::Add(hn::Round(hn::Div(xf, scale)), zeroPoint), low), high);
            hn::Store(hn::Mul(hn::Sub(code, zeroPoint), scale), df, local);
        }
        for (size_t h = 0; h < lanes; h += part) {
            const VD xd = hn::PromoteTo(dd, hn::LoadU(dh, x + i + h)), yd = hn::PromoteTo(dd, hn::LoadU(dh, y + i + h));
            const VD error = hn::Sub(yd, xd);
            xx = hn::MulAdd(xd, xd, xx);
            yy = hn::MulAdd(yd, yd, yy);
            xy = hn::MulAdd(xd, yd, xy);
            ee = hn::MulAdd(error, error, ee);
            e = hn::Add(e, error);
            maxError = hn::Max(maxError, hn::Abs(error));
            if constexpr (kHasP) { // else p = y: all error is inherited
                const auto pf = hn::LoadU(dh, p + i + h);
                const VD pd = hn::PromoteTo(dd, pf), own = hn::Sub(yd, pd);
                const VD a = kBounded ? hn::PromoteTo(dd, hn::Min(hn::Max(pf, boundLow), boundHigh)) : pd;
                pp = hn::MulAdd(pd, pd, pp);
                qdqEe = hn::MulAdd(own, own, qdqEe);
                made = hn::MulAdd(error, kBounded ? hn::Sub(yd, a) : own, made);
                inherited = hn::MulAdd(error, hn::Sub(a, xd), inherited);
            }
            if constexpr (kHasQuantizer) {
                const VD off = hn::Sub(hn::PromoteTo(dd, hn::Load(dh, local + h)), xd);
                localEe = hn::MulAdd(off, off, localEe);
            }
        }
    }
    auto sum = [&](VD v) { return hn::GetLane(hn::SumOfLanes(dd, v)); };
    s.count += i;
    s.xx += sum(xx);
    s.yy += sum(yy);
    s.xy += sum(xy);
    s.ee += sum(ee);
    s.e += sum(e);
    s.localEe += sum(localEe);
    s.pp += sum(kHasP ? pp : yy);
    s.qdqEe += sum(qdqEe);
    s.rounding += sum(made);
    s.inherited += sum(kHasP ? inherited : ee);
    foldLow(df, lowX, s.lowX);
    foldHigh(df, highX, s.highX);
    foldLow(df, kHasP ? lowA : lowY, s.lowA);
    foldHigh(df, kHasP ? highA : highY, s.highA);
    foldLow(df, lowY, extremes.lowY);
    foldHigh(df, highY, extremes.highY);
    foldLow(df, lowE, extremes.lowError);
    foldHigh(df, highE, extremes.highError);
    foldHigh(dd, maxError, s.maxError);
    return i;
}

template <bool kExtremes> size_t sumVectorsWith(PairSums& s, PairExtremes& extremes, const PairRun& run)
{
    if (!run.p)
        return run.quantizer ? sumVectorsOf<false, false, true, kExtremes>(s, extremes, run)
                             : sumVectorsOf<false, false, false, kExtremes>(s, extremes, run);
    if (!run.activation.bounded())
        return run.quantizer ? sumVectorsOf<true, false, true, kExtremes>(s, extremes, run)
                             : sumVectorsOf<true, false, false, kExtremes>(s, extremes, run);
    return run.quantizer ? sumVectorsOf<true, true, true, kExtremes>(s, extremes, run)
                         : sumVectorsOf<true, true, false, kExtremes>(s, extremes, run);
}

size_t sumVectors(PairSums& s, PairExtremes& extremes, const PairRun& run)
{
    return run.error ? sumVectorsWith<true>(s, extremes, run) : sumVectorsWith<false>(s, extremes, run);
}

/// Noise made by a quantizer that p stands before: rounding inside [lowest, highest], clipping and clipped outside. For
/// a multiple of what a vector holds.
void splitVectors(PairSums& s, const PairRun& run, double lowest, double highest)
{
    const Wide dd;
    const Half dh;
    using VD = hn::Vec<Wide>;
    const VD bottom = hn::Set(dd, lowest), top = hn::Set(dd, highest);
    const auto low = hn::Set(dh, run.activation.low), high = hn::Set(dh, run.activation.high);
    VD rounding = hn::Zero(dd), clipping = rounding;
    const size_t lanes = hn::Lanes(dd);
    for (size_t i = 0; i < run.n; i += lanes) {
        const auto pf = hn::LoadU(dh, run.p + i);
        const VD xd = hn::PromoteTo(dd, hn::LoadU(dh, run.x + i)), yd = hn::PromoteTo(dd, hn::LoadU(dh, run.y + i)),
                 a = hn::PromoteTo(dd, hn::Min(hn::Max(pf, low), high));
        const VD made = hn::Mul(hn::Sub(yd, xd), hn::Sub(yd, a));
        const auto outside = hn::Or(hn::Lt(a, bottom), hn::Gt(a, top));
        clipping = hn::Add(clipping, hn::IfThenElseZero(outside, made));
        rounding = hn::Add(rounding, hn::IfThenZeroElse(outside, made));
        s.clipped += hn::CountTrue(dd, outside);
    }
    s.clipping += hn::GetLane(hn::SumOfLanes(dd, clipping));
    s.rounding += hn::GetLane(hn::SumOfLanes(dd, rounding));
}

} // namespace qs::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace qs {

HWY_EXPORT(sumVectors);
HWY_EXPORT(splitVectors);

namespace {

constexpr size_t kBlock = 4096; ///< elements whose sums are made before one looks whether all were finite
constexpr size_t kPiece = 64; ///< the same inside a block where one is not

PairRun partOf(const PairRun& run, size_t begin, size_t n)
{
    PairRun part = run;
    part.x += begin;
    part.y += begin;
    part.p = run.p ? run.p + begin : nullptr;
    part.error = run.error ? run.error + begin : nullptr;
    part.n = n;
    return part;
}

/// Moves the noise of what lies beyond the quantizer's range from rounding to clipping.
void splitByRange(PairSums& s, const PairRun& run)
{
    const double scale = run.quantizer->scale, zeroPoint = run.quantizer->zeroPoint;
    const double lowest = scale * (run.quantizer->low - zeroPoint) - scale / 2;
    const double highest = scale * (run.quantizer->high - zeroPoint) + scale / 2;
    if (!(s.lowA < lowest || s.highA > highest))
        return;
    if (run.p) {
        s.rounding = 0;
        return HWY_DYNAMIC_DISPATCH(splitVectors)(s, run, lowest, highest);
    }
    for (size_t i = 0; i < run.n; ++i) // p = y: nothing is made here
        s.clipped += run.y[i] < lowest || run.y[i] > highest;
}

void mergeExtremes(PairExtremes& a, const PairExtremes& b)
{
    a.lowY = std::min(a.lowY, b.lowY);
    a.highY = std::max(a.highY, b.highY);
    a.lowError = std::min(a.lowError, b.lowError);
    a.highError = std::max(a.highError, b.highError);
}

/// Whole vectors of finite elements; false, and nothing added, when one is not. `taken` = how many elements.
bool addFinite(PairSums& sums, PairExtremes& extremes, const PairRun& run, size_t& taken)
{
    PairSums s;
    PairExtremes found;
    taken = HWY_DYNAMIC_DISPATCH(sumVectors)(s, found, run);
    if (!std::isfinite(s.xx + s.yy + s.pp))
        return false;
    if (run.quantizer)
        splitByRange(s, partOf(run, 0, taken));
    sums.merge(s);
    mergeExtremes(extremes, found);
    return true;
}

} // namespace

void addPairSums(PairSums& sums, PairExtremes& extremes, const PairRun& run)
{
    size_t taken = 0;
    for (size_t begin = 0; begin < run.n; begin += kBlock) {
        const PairRun block = partOf(run, begin, std::min(kBlock, run.n - begin));
        if (addFinite(sums, extremes, block, taken)) {
            if (taken < block.n)
                addPairSumsReference(sums, extremes, partOf(block, taken, block.n - taken));
            continue;
        }
        for (size_t at = 0; at < block.n; at += kPiece) {
            const PairRun piece = partOf(block, at, std::min(kPiece, block.n - at));
            if (!addFinite(sums, extremes, piece, taken))
                taken = 0;
            if (taken < piece.n)
                addPairSumsReference(sums, extremes, partOf(piece, taken, piece.n - taken));
        }
    }
}

void addPairSums(PairSums& sums, const float* x, const float* y, const float* p, size_t n,
    const PairQuantizer* quantizer, const PairActivation& activation)
{
    PairExtremes unused;
    addPairSums(sums, unused, { x, y, p, n, quantizer, activation });
}

} // namespace qs
#endif
