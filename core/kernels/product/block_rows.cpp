// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/product/block_rows.h"

#include "core/kernels/product/float_rows.h"

#include <algorithm>

// As in float_rows.cpp: fused multiplication and addition, and AVX-512 where there is.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/product/block_rows.cpp"
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
    const uint8_t* codes;
    const float *scale, *zeroPoint; ///< zeroPoint null: that of all
};
BlockAt blockAt(const BlockPanels& b, int64_t panel, int64_t block)
{
    const int64_t at = (panel * b.blocks + block) * kBlockPanel;
    return { b.block(panel, block), b.scale.data() + at, b.zeroPoint.empty() ? nullptr : b.zeroPoint.data() + at };
}

/// Gives the weights of a block's `inputs` inputs, in order: take(input, vector, weights).
template <bool kHalves, size_t kAll, class Take>
HWY_INLINE void eachWeight(const BlockAt (&at)[kAll], float zeroPointOfAll, int64_t inputs, Take&& take)
{
    const D d;
    const DI d32;
    constexpr int64_t kEach = kHalves ? 8 : 4;
    V scale[kAll * kVectors], zeroPoint[kAll * kVectors];
    HWY_UNROLL(8)
    for (size_t v = 0; v < kAll * kVectors; ++v) {
        const BlockAt& from = at[v / kVectors];
        scale[v] = hn::LoadU(d, from.scale + v % kVectors * kLanes);
        zeroPoint[v]
            = from.zeroPoint ? hn::LoadU(d, from.zeroPoint + v % kVectors * kLanes) : hn::Set(d, zeroPointOfAll);
    }
    const auto mask = hn::Set(d32, kHalves ? 15u : 255u);
    for (int64_t k = 0; k < inputs; k += kEach) {
        const int64_t count = std::min(kEach, inputs - k);
        hn::Vec<DI> codes[kAll * kVectors];
        HWY_UNROLL(8)
        for (size_t v = 0; v < kAll * kVectors; ++v)
            codes[v] = hn::LoadU(d32,
                reinterpret_cast<const uint32_t*>(
                    at[v / kVectors].codes + (k / kEach * kBlockPanel + int64_t(v % kVectors * kLanes)) * 4));
        HWY_UNROLL(8)
        for (int64_t i = 0; i < kEach; ++i) {
            if (i >= count)
                break;
            const int shift = static_cast<int>(8 * (i % 4) + (i >= 4 ? 4 : 0));
            HWY_UNROLL(8)
            for (size_t v = 0; v < kAll * kVectors; ++v) {
                const auto code
                    = hn::BitCast(hn::RebindToSigned<DI>(), hn::And(hn::ShiftRightSame(codes[v], shift), mask));
                take(k + i, v, hn::Mul(hn::Sub(hn::ConvertTo(d, code), zeroPoint[v]), scale[v]));
            }
        }
    }
}

/// One row of x and kAll panels.
template <bool kHalves, size_t kAll> void multiplyRow(const float* x, const BlockPanels& b, int64_t panel, float* y)
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
        eachWeight<kHalves, kAll>(at, b.zeroPointOfAll, std::min(b.blockSize, b.depth - block * b.blockSize),
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

template <bool kHalves>
void multiplyRows(const float* x, int64_t rows, const BlockPanels& b, int64_t first, int64_t last, float* y)
{
    constexpr auto kMost = int64_t(kMostPanels);
    for (int64_t panel = first; panel < last; panel += kMost)
        for (int64_t m = 0; m < rows; ++m) {
            if (panel + kMost <= last) {
                multiplyRow<kHalves, kMostPanels>(x + m * b.depth, b, panel, y + m * b.rows);
                continue;
            }
            for (int64_t p = panel; p < last; ++p)
                multiplyRow<kHalves, 1>(x + m * b.depth, b, p, y + m * b.rows);
        }
}

void multiply(const float* x, int64_t rows, const BlockPanels& b, int64_t first, int64_t last, float* y)
{
    (b.halves ? multiplyRows<true> : multiplyRows<false>)(x, rows, b, first, last, y);
}

/// The weights of panels `first` .. `last` - 1 as floats: `width` a row of inputs, from `to` on.
template <bool kHalves> void widenPanels(const BlockPanels& b, int64_t first, int64_t last, size_t width, float* to)
{
    const D d;
    for (int64_t panel = first; panel < last; ++panel, to += kBlockPanel)
        for (int64_t block = 0; block < b.blocks; ++block) {
            const BlockAt at[1] { blockAt(b, panel, block) };
            float* row = to + size_t(block * b.blockSize) * width;
            eachWeight<kHalves, 1>(at, b.zeroPointOfAll, std::min(b.blockSize, b.depth - block * b.blockSize),
                [&](int64_t k, size_t v, V weights)
                    HWY_ATTR { hn::StoreU(weights, d, row + size_t(k) * width + v * kLanes); });
        }
}

void widen(const BlockPanels& b, int64_t first, int64_t last, size_t width, float* to)
{
    (b.halves ? widenPanels<true> : widenPanels<false>)(b, first, last, width, to);
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
    PanelWeights w { 1, static_cast<size_t>(b.depth), 0, width, {} };
    w.panels.assign(w.panelFloats(), 0.0f);
    const float* const segment = x;
    for (int64_t panel = first; panel < last; panel += each) {
        const int64_t end = std::min(last, panel + each), row = panel * kBlockPanel;
        w.filters = static_cast<size_t>(std::min(b.rows, end * kBlockPanel) - row);
        HWY_DYNAMIC_DISPATCH(widen)(b, panel, end, width, w.panels.data() + width);
        const PixelRun run { &segment, 0, 0, w.segmentInputs, b.depth, static_cast<size_t>(rows), y + row,
            static_cast<size_t>(b.rows) };
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
