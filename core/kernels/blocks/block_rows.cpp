// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/blocks/block_rows.h"

#include "core/kernels/product/float_rows.h"

#include <algorithm>

// As in float_rows.cpp: fused multiplication and addition, and AVX-512 where there is.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/blocks/block_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace qs::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<float, kBlockPanel>;
using V = hn::Vec<D>;
using DI = hn::RebindToUnsigned<D>;

constexpr size_t kLanes = hn::MaxLanes(D());
constexpr size_t kVectors = kBlockPanel / kLanes; ///< of a panel
constexpr size_t kMostPanels = 4 / (kVectors < 4 ? kVectors : 4); ///< that a row meets at once: as many sums in flight

/// What the blocks of a panel's rows are multiplied by, and where their codes begin.
struct BlockAt {
    const uint8_t *codes, *zeroCode;
    const float *scale, *zeroPoint;
};
BlockAt blockAt(const BlockPanels& b, int64_t panel, int64_t block)
{
    const int64_t at = (panel * b.blocks + block) * kBlockPanel;
    return { b.block(panel, block), b.zeroCode.empty() ? nullptr : b.zeroCode.data() + at, b.scale.data() + at,
        b.zeroPoint.empty() ? nullptr : b.zeroPoint.data() + at };
}

/// The zero points of rows `first` and those behind it.
HWY_INLINE V zeroPointsAt(const BlockAt& at, size_t first)
{
    const D d;
    const hn::RebindToSigned<D> d32;
    const hn::Rebind<uint8_t, D> d8;
    return at.zeroCode ? hn::ConvertTo(d, hn::PromoteTo(d32, hn::LoadU(d8, at.zeroCode + first)))
                       : hn::LoadU(d, at.zeroPoint + first);
}

/// The codes at `shift` as weights that are not scaled. With AVX-512 the 16 of them are looked up; of one zero point
/// (kOne) the table has it taken off.
template <bool kHalves, bool kOne>
HWY_INLINE V unscaled(hn::Vec<DI> codes, int shift, [[maybe_unused]] V table, V zeroPoint)
{
    const D d;
    const DI d32;
    const auto shifted = hn::ShiftRightSame(codes, shift);
#if HWY_TARGET <= HWY_AVX3
    if constexpr (kHalves) {
        const V code { _mm512_permutexvar_ps(shifted.raw, table.raw) };
        return kOne ? code : hn::Sub(code, zeroPoint);
    }
#endif
    const auto code = hn::And(shifted, hn::Set(d32, kHalves ? 15u : 255u));
    return hn::Sub(hn::ConvertTo(d, hn::BitCast(hn::RebindToSigned<DI>(), code)), zeroPoint);
}

/// A group of neighbouring inputs, of which kAllInputs or `count` count.
template <bool kHalves, bool kOne, bool kAllInputs, size_t kSums, class Take>
HWY_INLINE void eachOfGroup(const hn::Vec<DI> (&codes)[kSums], const V (&scale)[kSums], const V (&zeroPoint)[kSums],
    V table, int64_t first, int64_t count, Take&& take)
{
    constexpr int64_t kEach = kHalves ? 8 : 4;
    HWY_UNROLL(8)
    for (int64_t i = 0; i < kEach; ++i) {
        if (!kAllInputs && i >= count)
            return;
        const int shift = static_cast<int>(8 * (i % 4) + (i >= 4 ? 4 : 0));
        HWY_UNROLL(8)
        for (size_t v = 0; v < kSums; ++v)
            take(first + i, v, hn::Mul(unscaled<kHalves, kOne>(codes[v], shift, table, zeroPoint[v]), scale[v]));
    }
}

/// Gives the weights of a block's `inputs` inputs, in order: take(input, vector, weights).
template <bool kHalves, bool kOne, size_t kAll, class Take>
HWY_INLINE void eachWeight(const BlockAt (&at)[kAll], float zeroPointOfAll, int64_t inputs, Take&& take)
{
    const D d;
    const DI d32;
    constexpr int64_t kEach = kHalves ? 8 : 4;
    constexpr size_t kSums = kAll * kVectors;
    V scale[kSums], zeroPoint[kSums];
    HWY_UNROLL(8)
    for (size_t v = 0; v < kSums; ++v) {
        const BlockAt& from = at[v / kVectors];
        scale[v] = hn::LoadU(d, from.scale + v % kVectors * kLanes);
        zeroPoint[v] = kOne ? hn::Set(d, zeroPointOfAll) : zeroPointsAt(from, v % kVectors * kLanes);
    }
    const V table = kOne ? hn::Sub(hn::Iota(d, 0), zeroPoint[0]) : hn::Iota(d, 0);
    for (int64_t k = 0; k < inputs; k += kEach) {
        hn::Vec<DI> codes[kSums];
        HWY_UNROLL(8)
        for (size_t v = 0; v < kSums; ++v) {
            const int64_t place = k / kEach * kBlockPanel + int64_t(v % kVectors * kLanes);
            codes[v] = hn::LoadU(d32, reinterpret_cast<const uint32_t*>(at[v / kVectors].codes + place * 4));
        }
        if (k + kEach <= inputs)
            eachOfGroup<kHalves, kOne, true>(codes, scale, zeroPoint, table, k, kEach, take);
        else
            eachOfGroup<kHalves, kOne, false>(codes, scale, zeroPoint, table, k, inputs - k, take);
    }
}

/// One row of x and kAll panels.
template <bool kHalves, bool kOne, size_t kAll>
void multiplyRow(const float* x, const BlockPanels& b, int64_t panel, float* y)
{
    const D d;
    V sums[kAll * kVectors];
    HWY_UNROLL(8)
    for (size_t v = 0; v < kAll * kVectors; ++v)
        sums[v] = hn::Zero(d);
    for (int64_t block = 0; block < b.blocks; ++block) {
        BlockAt at[kAll];
        for (size_t p = 0; p < kAll; ++p)
            at[p] = blockAt(b, panel + int64_t(p), block);
        const float* from = x + block * b.blockSize;
        eachWeight<kHalves, kOne, kAll>(at, b.zeroPointOfAll, std::min(b.blockSize, b.depth - block * b.blockSize),
            [&](int64_t k, size_t v, V weights)
                HWY_ATTR { sums[v] = hn::MulAdd(hn::Set(d, from[k]), weights, sums[v]); });
    }
    for (size_t v = 0; v < kAll * kVectors; ++v) {
        const int64_t row = panel * kBlockPanel + int64_t(v * kLanes), left = b.rows - row;
        if (left >= int64_t(kLanes))
            hn::StoreU(sums[v], d, y + row);
        else if (left > 0)
            hn::BlendedStore(sums[v], hn::FirstN(d, size_t(left)), d, y + row);
    }
}

template <bool kHalves, bool kOne>
void multiplyRows(const float* x, int64_t rows, const BlockPanels& b, int64_t first, int64_t last, float* y)
{
    constexpr auto kMost = int64_t(kMostPanels);
    for (int64_t panel = first; panel < last; panel += kMost)
        for (int64_t m = 0; m < rows; ++m) {
            if (panel + kMost <= last) {
                multiplyRow<kHalves, kOne, kMostPanels>(x + m * b.depth, b, panel, y + m * b.rows);
                continue;
            }
            for (int64_t p = panel; p < last; ++p)
                multiplyRow<kHalves, kOne, 1>(x + m * b.depth, b, p, y + m * b.rows);
        }
}

void multiply(const float* x, int64_t rows, const BlockPanels& b, int64_t first, int64_t last, float* y)
{
    const bool one = b.zeroPoint.empty() && b.zeroCode.empty();
    (b.halves     ? one ? multiplyRows<true, true> : multiplyRows<true, false>
                : one ? multiplyRows<false, true>
                  : multiplyRows<false, false>)(x, rows, b, first, last, y);
}

/// The weights of panels `first` .. `last` - 1 as floats: `width` a row of inputs, from `to` on.
template <bool kHalves, bool kOne>
void widenPanels(const BlockPanels& b, int64_t first, int64_t last, size_t width, float* to)
{
    const D d;
    for (int64_t panel = first; panel < last; ++panel, to += kBlockPanel)
        for (int64_t block = 0; block < b.blocks; ++block) {
            const BlockAt at[1] { blockAt(b, panel, block) };
            float* row = to + size_t(block * b.blockSize) * width;
            eachWeight<kHalves, kOne, 1>(at, b.zeroPointOfAll, std::min(b.blockSize, b.depth - block * b.blockSize),
                [&](int64_t k, size_t v, V weights)
                    HWY_ATTR { hn::StoreU(weights, d, row + size_t(k) * width + v * kLanes); });
        }
}

void widen(const BlockPanels& b, int64_t first, int64_t last, size_t width, float* to)
{
    const bool one = b.zeroPoint.empty() && b.zeroCode.empty();
    (b.halves     ? one ? widenPanels<true, true> : widenPanels<true, false>
                : one ? widenPanels<false, true>
                  : widenPanels<false, false>)(b, first, last, width, to);
}

/// Filters of a panel of floats; 0 where these kernels are not to be used.
size_t floatPanel() { return HWY_TARGET <= HWY_AVX2 ? 2 * hn::MaxLanes(hn::ScalableTag<float>()) : 0; }

} // namespace
} // namespace qs::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace qs {

namespace {

HWY_EXPORT(multiply);
HWY_EXPORT(widen);
HWY_EXPORT(floatPanel);

/// Fewer rows read codes faster than they would use floats.
constexpr int64_t kFewRows = 4;

/// A panel of floats at a time: small enough for a cache, used by all rows.
void multiplyWidened(const float* x, int64_t rows, const BlockPanels& b, int64_t first, int64_t last, float* y)
{
    const size_t width = HWY_DYNAMIC_DISPATCH(floatPanel)();
    const int64_t each = static_cast<int64_t>(width) / kBlockPanel;
    PanelWeights w { static_cast<size_t>(b.depth), 1, 0, width, {} };
    w.panels.assign(w.panelFloats(), 0.0f);
    const float* const segment = x;
    for (int64_t panel = first; panel < last; panel += each) {
        const int64_t end = std::min(last, panel + each), row = panel * kBlockPanel;
        w.filters = static_cast<size_t>(std::min(b.rows, end * kBlockPanel) - row);
        HWY_DYNAMIC_DISPATCH(widen)(b, panel, end, width, w.panels.data() + width);
        const PixelRun run { &segment, b.depth, static_cast<size_t>(rows), y + row, static_cast<size_t>(b.rows) };
        multiplyPixels(w, run, 0, 1, {});
    }
}

} // namespace

bool hasBlockRows() { return HWY_DYNAMIC_DISPATCH(floatPanel)() > 0; }

void multiplyBlockRows(
    const float* x, int64_t rows, const BlockPanels& b, int64_t firstPanel, int64_t lastPanel, float* y)
{
    if (rows < kFewRows)
        HWY_DYNAMIC_DISPATCH(multiply)(x, rows, b, firstPanel, lastPanel, y);
    else
        multiplyWidened(x, rows, b, firstPanel, lastPanel, y);
}

} // namespace qs
#endif
