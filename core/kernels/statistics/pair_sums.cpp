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

/// What one pass adds up, in double.
template <bool kHasP, bool kBounded, bool kHasQuantizer> struct WideSums {
    using VD = hn::Vec<Wide>;
    const hn::Vec<Half> boundLow, boundHigh;
    VD xx = hn::Zero(Wide()), yy = xx, xy = xx, ee = xx, e = xx, localEe = xx, pp = xx, qdqEe = xx, made = xx,
       inherited = xx, maxError = xx;

    explicit WideSums(const PairActivation& activation)
        : boundLow(hn::Set(Half(), activation.low))
        , boundHigh(hn::Set(Half(), activation.high))
    {
    }

    /// The elements of one vector of doubles; `p` and `local`, which is DQ(Q(x)), count where there are such.
    HWY_INLINE void add(const float* x, const float* y, const float* p, const float* local)
    {
        const Wide d;
        const Half h;
        const VD xd = hn::PromoteTo(d, hn::LoadU(h, x)), yd = hn::PromoteTo(d, hn::LoadU(h, y));
        const VD error = hn::Sub(yd, xd);
        xx = hn::MulAdd(xd, xd, xx);
        yy = hn::MulAdd(yd, yd, yy);
        xy = hn::MulAdd(xd, yd, xy);
        ee = hn::MulAdd(error, error, ee);
        e = hn::Add(e, error);
        maxError = hn::Max(maxError, hn::Abs(error));
        if constexpr (kHasP) { // else p = y: all error is inherited
            const auto pf = hn::LoadU(h, p);
            const VD pd = hn::PromoteTo(d, pf), own = hn::Sub(yd, pd);
            const VD a = kBounded ? hn::PromoteTo(d, hn::Min(hn::Max(pf, boundLow), boundHigh)) : pd;
            pp = hn::MulAdd(pd, pd, pp);
            qdqEe = hn::MulAdd(own, own, qdqEe);
            made = hn::MulAdd(error, kBounded ? hn::Sub(yd, a) : own, made);
            inherited = hn::MulAdd(error, hn::Sub(a, xd), inherited);
        }
        if constexpr (kHasQuantizer) {
            const VD off = hn::Sub(hn::PromoteTo(d, hn::Load(h, local)), xd);
            localEe = hn::MulAdd(off, off, localEe);
        }
    }

    void addTo(PairSums& s) const
    {
        const auto sum = [](VD v) { return hn::GetLane(hn::SumOfLanes(Wide(), v)); };
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
        foldHigh(Wide(), maxError, s.maxError);
    }
};

/// Smallest and largest elements of one pass.
template <bool kHasP, bool kBounded, bool kExtremes> struct ElementRanges {
    using VF = hn::Vec<Full>;
    const VF boundLow, boundHigh;
    VF lowX = hn::Set(Full(), std::numeric_limits<float>::infinity()), highX = hn::Neg(lowX), lowY = lowX,
       highY = highX, lowE = lowX, highE = highX, lowA = lowX, highA = highX;

    explicit ElementRanges(const PairActivation& activation)
        : boundLow(hn::Set(Full(), activation.low))
        , boundHigh(hn::Set(Full(), activation.high))
    {
    }

    /// One vector of floats; `p` counts and `error` is written where there are such.
    HWY_INLINE void add(VF xf, const float* y, const float* p, float* error)
    {
        const Full d;
        const VF yf = hn::LoadU(d, y);
        lowX = hn::Min(lowX, xf);
        highX = hn::Max(highX, xf);
        if constexpr (kExtremes || !kHasP) {
            lowY = hn::Min(lowY, yf);
            highY = hn::Max(highY, yf);
        }
        if constexpr (kExtremes) {
            const VF ef = hn::Sub(yf, xf);
            hn::StoreU(ef, d, error);
            lowE = hn::Min(lowE, ef);
            highE = hn::Max(highE, ef);
        }
        if constexpr (kHasP) {
            VF af = hn::LoadU(d, p);
            if constexpr (kBounded)
                af = hn::Min(hn::Max(af, boundLow), boundHigh);
            lowA = hn::Min(lowA, af);
            highA = hn::Max(highA, af);
        }
    }

    void addTo(PairSums& s, PairExtremes& extremes) const
    {
        const Full d;
        foldLow(d, lowX, s.lowX);
        foldHigh(d, highX, s.highX);
        foldLow(d, kHasP ? lowA : lowY, s.lowA);
        foldHigh(d, kHasP ? highA : highY, s.highA);
        foldLow(d, lowY, extremes.lowY);
        foldHigh(d, highY, extremes.highY);
        foldLow(d, lowE, extremes.lowError);
        foldHigh(d, highE, extremes.highError);
    }
};

/// What a quantizer makes of a vector of floats.
struct VectorQuantizer {
    using VF = hn::Vec<Full>;
    const VF scale, zeroPoint, low, high;

    explicit VectorQuantizer(const PairQuantizer& q)
        : scale(hn::Set(Full(), q.scale))
        , zeroPoint(hn::Set(Full(), float(q.zeroPoint)))
        , low(hn::Set(Full(), float(q.low)))
        , high(hn::Set(Full(), float(q.high)))
    {
    }
    HWY_INLINE VF dequantized(VF x) const
    {
        const VF code = hn::Min(hn::Max(hn::Add(hn::Round(hn::Div(x, scale)), zeroPoint), low), high);
        return hn::Mul(hn::Sub(code, zeroPoint), scale);
    }
};

/// One pass over whole vectors as if all elements were finite and none clipped: all noise made here goes to rounding.
/// Where an element is not finite, neither is xx, yy or pp. Returns how many elements it took.
template <bool kHasP, bool kBounded, bool kHasQuantizer, bool kExtremes>
size_t sumVectorsOf(PairSums& s, PairExtremes& extremes, const PairRun& run)
{
    const Full df;
    const size_t lanes = hn::Lanes(df), part = hn::Lanes(Wide());
    const float *const HWY_RESTRICT x = run.x, *const HWY_RESTRICT y = run.y, *const HWY_RESTRICT p = run.p;
    WideSums<kHasP, kBounded, kHasQuantizer> sums(run.activation);
    ElementRanges<kHasP, kBounded, kExtremes> ranges(run.activation);
    const VectorQuantizer quantizer(kHasQuantizer ? *run.quantizer : PairQuantizer {});
    size_t i = 0;
    for (; i + lanes <= run.n; i += lanes) {
        const auto xf = hn::LoadU(df, x + i);
        ranges.add(xf, y + i, kHasP ? p + i : nullptr, kExtremes ? run.error + i : nullptr);
        HWY_ALIGN float local[HWY_MAX_BYTES / sizeof(float)];
        if constexpr (kHasQuantizer)
            hn::Store(quantizer.dequantized(xf), df, local);
        for (size_t h = 0; h < lanes; h += part)
            sums.add(x + i + h, y + i + h, kHasP ? p + i + h : nullptr, local + h);
    }
    s.count += i;
    sums.addTo(s);
    ranges.addTo(s, extremes);
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

/// Moves the noise of what lies beyond the quantizer's range from rounding to clipping, and counts such elements.
void splitByRange(PairSums& s, const PairRun& run)
{
    const double lowest = run.quantizer->lowest(), highest = run.quantizer->highest();
    if (s.lowX < lowest || s.highX > highest)
        for (size_t i = 0; i < run.n; ++i)
            s.clippedX += run.x[i] < lowest || run.x[i] > highest;
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

/// What vectors do not do: codes that are not equally far apart.
void addLocalOnGrid(PairSums& s, const PairRun& run)
{
    for (size_t i = 0; i < run.n; ++i) {
        const double local = double(run.quantizer->dequantized(run.x[i])) - run.x[i];
        s.localEe += local * local;
    }
}

/// Whole vectors of finite elements; false, and nothing added, when one is not. `taken` = how many elements.
bool addFinite(PairSums& sums, PairExtremes& extremes, const PairRun& run, size_t& taken)
{
    PairSums s;
    PairExtremes found;
    const bool uneven = run.quantizer && !run.quantizer->isEven();
    PairRun even = run;
    even.quantizer = uneven ? nullptr : run.quantizer;
    taken = HWY_DYNAMIC_DISPATCH(sumVectors)(s, found, even);
    if (!std::isfinite(s.xx + s.yy + s.pp))
        return false;
    if (run.quantizer)
        splitByRange(s, partOf(run, 0, taken));
    if (uneven)
        addLocalOnGrid(s, partOf(run, 0, taken));
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
