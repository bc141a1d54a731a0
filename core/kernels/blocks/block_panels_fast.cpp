// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/blocks/block_codes.h"
#include "core/kernels/blocks/block_dots.h"
#include "core/kernels/blocks/block_pairs.h"
#include "core/kernels/codes/dot_product.h"

#include "core/base/rounding.h"
#include "core/kernels/cpu/highway_targets.h"

#include <algorithm>
#include <array>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/blocks/block_panels_fast.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace qs::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR
using DF = hn::CappedTag<float, 8>;
using DI = hn::RebindToSigned<DF>;

/// Not a number counts as 0.
float largestOf(const float* x, int64_t n)
{
    const DF d;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    auto most = hn::Zero(d);
    int64_t k = 0;
    for (; k + lanes <= n; k += lanes) {
        const auto v = hn::LoadU(d, x + k);
        most = hn::Max(most, hn::Abs(hn::IfThenElseZero(hn::Eq(v, v), v)));
    }
    float largest = hn::GetLane(hn::MaxOfLanes(d, most));
    for (; k < n; ++k)
        largest = std::isnan(x[k]) ? largest : std::max(largest, std::abs(x[k]));
    return largest;
}

/// Codes of n floats, and their sum.
int32_t codeBlock(const float* x, int64_t n, float inverse, int8_t* codes)
{
    const DF d;
    const DI d32;
    const hn::Rebind<int16_t, DF> d16;
    const hn::Rebind<int8_t, DF> d8;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    const auto most = hn::Set(d, 127.0f), factor = hn::Set(d, inverse);
    auto sum = hn::Zero(d32);
    const auto rounded = [&](auto v) HWY_ATTR {
        const auto scaled = hn::Mul(v, factor);
        const auto number = hn::IfThenElseZero(hn::Eq(scaled, scaled), scaled);
        return hn::NearestInt(hn::Min(most, hn::Max(hn::Neg(most), number)));
    };
    int64_t k = 0;
    for (; k + lanes <= n; k += lanes) {
        const auto code = rounded(hn::LoadU(d, x + k));
        sum = hn::Add(sum, code);
        hn::StoreU(hn::DemoteTo(d8, hn::DemoteTo(d16, code)), d8, codes + k);
    }
    int32_t total = hn::GetLane(hn::SumOfLanes(d32, sum));
    for (; k < n; ++k) {
        codes[k] = static_cast<int8_t>(hn::GetLane(rounded(hn::Set(d, x[k]))));
        total += codes[k];
    }
    return total;
}

/// Pairs of sums of products over one block: 2 a row of the panel.
using PairSums = std::array<int32_t, 2 * kBlockPanel>;

HWY_INLINE auto fourTimes(const int8_t* four)
{
    const hn::CappedTag<int16_t, 8> d16;
    const hn::Rebind<int8_t, decltype(d16)> d8;
    HWY_ALIGN int8_t eight[8];
    std::copy_n(four, 4, eight);
    std::copy_n(four, 4, eight + 4);
    return hn::PromoteTo(d16, hn::LoadU(d8, eight));
}

/// Two rows of the panel at once; their codes meet the same four of a.
template <bool kHalves> void sumBlock(const int8_t* a, const uint8_t* codes, int64_t blockSize, PairSums& sums)
{
    const hn::CappedTag<int16_t, 8> d16;
    const hn::Rebind<uint8_t, decltype(d16)> d8;
    const hn::Repartition<int32_t, decltype(d16)> d32;
    sums.fill(0);
    for (int64_t k = 0; k < blockSize; k += kHalves ? 8 : 4, codes += 64) {
        const auto first = fourTimes(a + k), second = fourTimes(a + k + (kHalves ? 4 : 0));
        for (size_t r = 0; r < kBlockPanel; r += 2) {
            const auto both = hn::LoadU(d8, codes + 4 * r);
            int32_t* to = sums.data() + 2 * r;
            auto sum = hn::LoadU(d32, to), none = hn::Zero(d32);
            // On x86 what is added up are neighbours, and all of it goes to the first sum.
            if constexpr (kHalves) {
                const auto low = hn::PromoteTo(d16, hn::And(both, hn::Set(d8, 15)));
                const auto high = hn::ShiftRight<4>(hn::PromoteTo(d16, both));
                sum = hn::ReorderWidenMulAccumulate(d32, low, first, sum, none);
                sum = hn::ReorderWidenMulAccumulate(d32, high, second, sum, none);
            } else {
                sum = hn::ReorderWidenMulAccumulate(d32, hn::PromoteTo(d16, both), first, sum, none);
            }
            hn::StoreU(sum, d32, to);
        }
    }
}

void multiply(const CodedRows& a, const BlockPanels& b, int64_t firstPanel, int64_t lastPanel, float* y)
{
    PairSums sums;
    for (int64_t panel = firstPanel; panel < lastPanel; ++panel)
        for (int64_t m = 0; m < a.rows; ++m) {
            std::array<double, kBlockPanel> total {};
            const int64_t first = panel * kBlockPanel, count = std::min(kBlockPanel, b.rows - first);
            for (int64_t block = 0; block < b.blocks; ++block) {
                const int8_t* codes = a.codes.data() + (m * b.blocks + block) * b.blockSize;
                (b.halves ? sumBlock<true> : sumBlock<false>)(codes, b.block(panel, block), b.blockSize, sums);
                const auto at = static_cast<size_t>(m * b.blocks + block);
                const int64_t parameters = (panel * b.blocks + block) * kBlockPanel;
                const uint8_t* zeroCodes = b.zeroCode.empty() ? nullptr : b.zeroCode.data() + parameters;
                for (int64_t r = 0; r < count; ++r) {
                    const int32_t zeroPoint = zeroCodes ? zeroCodes[r] : static_cast<int32_t>(b.zeroPointOfAll);
                    const int32_t sum = sums[size_t(2 * r)] + sums[size_t(2 * r + 1)] - zeroPoint * a.sum[at];
                    const double scale = b.scale[static_cast<size_t>(parameters + r)];
                    total[size_t(r)] += double(a.scale[at]) * scale * double(sum);
                }
            }
            std::copy_n(total.begin(), count, y + m * b.rows + first);
        }
}
#else
float largestOf(const float* x, int64_t n)
{
    float largest = 0;
    for (int64_t k = 0; k < n; ++k)
        largest = std::isnan(x[k]) ? largest : std::max(largest, std::abs(x[k]));
    return largest;
}

int32_t codeBlock(const float* x, int64_t n, float inverse, int8_t* codes)
{
    int32_t sum = 0;
    for (int64_t k = 0; k < n; ++k) {
        const float v = roundHalfEven(x[k] * inverse);
        codes[k] = static_cast<int8_t>(std::isnan(v) ? 0.0f : std::clamp(v, -127.0f, 127.0f));
        sum += codes[k];
    }
    return sum;
}

void multiply(const CodedRows& a, const BlockPanels& b, int64_t firstPanel, int64_t lastPanel, float* y)
{
    multiplyCodesReference(a, b, firstPanel, lastPanel, y);
}
#endif

void code(const float* x, int64_t depth, int64_t row, CodedRows& out)
{
    int8_t* codes = out.codes.data() + row * out.blocks * out.blockSize;
    for (int64_t block = 0; block < out.blocks; ++block) {
        const int64_t first = block * out.blockSize, n = std::min(out.blockSize, depth - first);
        const float largest = largestOf(x + first, n);
        const auto at = static_cast<size_t>(row * out.blocks + block);
        out.scale[at] = largest / 127.0f;
        out.sum[at] = codeBlock(x + first, n, codesPerUnit(largest), codes + first);
        std::fill(codes + first + n, codes + first + out.blockSize, int8_t(0));
    }
}

} // namespace
} // namespace qs::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace qs {
HWY_EXPORT(code);
HWY_EXPORT(multiply);

void codeRow(const float* x, int64_t depth, int64_t row, CodedRows& out) noexcept
{
    HWY_DYNAMIC_DISPATCH(code)(x, depth, row, out);
}

void multiplyCodes(const CodedRows& a, const BlockPanels& b, int64_t firstPanel, int64_t lastPanel, float* y) noexcept
{
    if (hasDotProducts())
        multiplyCodesByDots(a, b, firstPanel, lastPanel, y);
    else if (hasPairProducts())
        multiplyCodesByPairs(a, b, firstPanel, lastPanel, y);
    else
        HWY_DYNAMIC_DISPATCH(multiply)(a, b, firstPanel, lastPanel, y);
}

} // namespace qs
#endif
