// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/codes/integer_depthwise.h"

#include "core/kernels/cpu/highway_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/codes/integer_depthwise_fast.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace qs::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_ARCH_X86 && HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR

using D16 = hn::CappedTag<int16_t, 16>;
using D32 = hn::RepartitionToWide<D16>;

/// The sums of B vectors of codes, each of Lanes(D16) channels.
template <class T, int B>
HWY_INLINE void sumChannels(
    const DepthwiseRun& run, const PackedDepthwise& w, const int32_t* start, int64_t from, int64_t channel, int32_t* to)
{
    const D16 d;
    const D32 d32;
    const hn::Rebind<T, D16> d8;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d)), half = lanes / 2;
    hn::Vec<D32> sum[B][2];
    for (int b = 0; b < B; ++b) {
        sum[b][0] = hn::LoadU(d32, start + channel + b * lanes);
        sum[b][1] = hn::LoadU(d32, start + channel + b * lanes + half);
    }
    const int16_t* weights = w.pairs.data() + channel * 2;
    const size_t taps = run.taps.size();
    for (size_t t = 0; t < taps; t += 2, weights += w.channels * 2) {
        const T* first = reinterpret_cast<const T*>(run.taps[t]) + from;
        const T* second = reinterpret_cast<const T*>(run.taps[t + (t + 1 < taps)]) + from;
        for (int b = 0; b < B; ++b) {
            const auto one = hn::LoadU(d8, first + b * lanes), two = hn::LoadU(d8, second + b * lanes);
            const auto low = hn::PromoteTo(d, hn::InterleaveLower(d8, one, two));
            const auto high = hn::PromoteTo(d, hn::InterleaveUpper(d8, one, two));
            auto unused = hn::Zero(d32);
            sum[b][0]
                = hn::ReorderWidenMulAccumulate(d32, low, hn::LoadU(d, weights + b * lanes * 2), sum[b][0], unused);
            sum[b][1] = hn::ReorderWidenMulAccumulate(
                d32, high, hn::LoadU(d, weights + b * lanes * 2 + lanes), sum[b][1], unused);
        }
    }
    for (int b = 0; b < B; ++b) {
        hn::StoreU(sum[b][0], d32, to + b * lanes);
        hn::StoreU(sum[b][1], d32, to + b * lanes + half);
    }
}

/// All channels where a vector of them fits, else none; returns how many. The last vector may meet the one before.
template <class T>
int64_t sumVectors(const DepthwiseRun& run, const PackedDepthwise& w, const int32_t* start, int64_t from, int32_t* to)
{
    const auto lanes = static_cast<int64_t>(hn::Lanes(D16()));
    int64_t c = 0;
    for (; c + 2 * lanes <= w.channels; c += 2 * lanes)
        sumChannels<T, 2>(run, w, start, from + c, c, to + c);
    for (; c < w.channels && w.channels >= lanes; c += lanes) {
        const int64_t at = std::min(c, w.channels - lanes);
        sumChannels<T, 1>(run, w, start, from + at, at, to + at);
    }
    return std::min(c, w.channels);
}

#else

template <class T> int64_t sumVectors(const DepthwiseRun&, const PackedDepthwise&, const int32_t*, int64_t, int32_t*)
{
    return 0;
}

#endif

template <class T>
void depthwiseTyped(const DepthwiseRun& run, const PackedDepthwise& w, const int32_t* start, int32_t* sums)
{
    for (int64_t p = 0, from = 0; p < run.positions; ++p, from += run.step, sums += w.channels)
        for (int64_t c = sumVectors<T>(run, w, start, from, sums); c < w.channels; ++c) {
            auto sum = static_cast<uint32_t>(start[c]);
            for (size_t t = 0; t < run.taps.size(); ++t) {
                const int32_t weight
                    = w.pairs[(t / 2 * static_cast<size_t>(w.channels) + static_cast<size_t>(c)) * 2 + t % 2];
                sum += static_cast<uint32_t>(reinterpret_cast<const T*>(run.taps[t])[from + c] * weight);
            }
            sums[c] = static_cast<int32_t>(sum);
        }
}

void depthwise(const DepthwiseRun& run, const PackedDepthwise& w, const int32_t* start, int32_t* sums)
{
    (run.isSigned ? depthwiseTyped<int8_t> : depthwiseTyped<uint8_t>)(run, w, start, sums);
}

} // namespace qs::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace qs {

HWY_EXPORT(depthwise);

PackedDepthwise packDepthwisePairs(Codes w, std::span<const int32_t> zeroPoints, int64_t channels, int64_t taps)
{
    PackedDepthwise packed { taps, channels, {}, std::vector<int32_t>(static_cast<size_t>(channels), 0) };
    packed.pairs.assign(static_cast<size_t>((taps + 1) / 2 * channels * 2), 0);
    for (int64_t c = 0; c < channels; ++c)
        for (int64_t t = 0; t < taps; ++t) {
            const int32_t weight = w.at(c * taps + t) - pick(zeroPoints, c);
            packed.pairs[static_cast<size_t>((t / 2 * channels + c) * 2 + t % 2)] = static_cast<int16_t>(weight);
            packed.sums[static_cast<size_t>(c)] += weight;
        }
    return packed;
}

void depthwisePairSums(const DepthwiseRun& run, const PackedDepthwise& w, const int32_t* start, int32_t* sums)
{
    HWY_DYNAMIC_DISPATCH(depthwise)(run, w, start, sums);
}

} // namespace qs
#endif
