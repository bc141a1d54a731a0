// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/statistics/edge_bins.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/statistics/edge_bins.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef QS_EDGE_BINS_TYPES
#define QS_EDGE_BINS_TYPES
namespace qs {

/// What became of a block of values.
struct GuessedBins {
    size_t taken = 0; ///< values looked at
    size_t sure = 0; ///< bins written
    size_t doubtful = 0; ///< positions of values that need their edges looked at
    size_t zeros = 0;
};

} // namespace qs
#endif

HWY_BEFORE_NAMESPACE();
namespace qs::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Whole vectors only. Zeros are common (after Relu) and often lie on an edge: they are counted apart. `bins` and
/// `doubts` have room for n values and a vector more.
GuessedBins guessVectors(const float* HWY_RESTRICT x, size_t n, const EdgeBins::Guess& guess,
    int32_t* HWY_RESTRICT bins, int32_t* HWY_RESTRICT doubts)
{
    const hn::ScalableTag<float> d;
    const hn::RebindToSigned<decltype(d)> di;
    const size_t lanes = hn::Lanes(d);
    const auto low = hn::Set(d, guess.low), inverse = hn::Set(d, guess.inverse), slack = hn::Set(d, guess.slack);
    const auto first = hn::Set(d, guess.first), last = hn::Set(d, guess.last), most = hn::Set(d, guess.most);
    const auto zero = hn::Zero(d);
    const auto signless = guess.magnitudes ? hn::BitCast(d, hn::Set(di, 0x7fffffff)) : hn::BitCast(d, hn::Set(di, -1));
    GuessedBins result;
    for (; result.taken + lanes <= n; result.taken += lanes) {
        const auto v = hn::And(hn::LoadU(d, x + result.taken), signless);
        const auto t = hn::Mul(hn::Sub(v, low), inverse);
        const auto below = hn::ConvertTo(di, hn::Min(hn::Sub(t, slack), most));
        const auto above = hn::ConvertTo(di, hn::Min(hn::Add(t, slack), most));
        const auto inside = hn::And(hn::Ge(v, first), hn::Le(v, last));
        const auto other = hn::And(inside, hn::Ne(v, zero));
        const auto same = hn::RebindMask(d, hn::Eq(below, above));
        const auto sure = hn::And(other, same);
        const auto doubtful = hn::AndNot(same, other);
        hn::StoreU(hn::Compress(above, hn::RebindMask(di, sure)), di, bins + result.sure);
        result.sure += hn::CountTrue(d, sure);
        result.zeros += hn::CountTrue(d, hn::Eq(v, zero));
        if (HWY_UNLIKELY(!hn::AllFalse(d, doubtful))) {
            const auto at = hn::Iota(di, static_cast<int32_t>(result.taken));
            hn::StoreU(hn::Compress(at, hn::RebindMask(di, doubtful)), di, doubts + result.doubtful);
            result.doubtful += hn::CountTrue(d, doubtful);
        }
    }
    return result;
}

} // namespace qs::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace qs {

HWY_EXPORT(guessVectors);

namespace {

constexpr size_t kBlock = 2048; ///< values whose bins are guessed at a time
constexpr size_t kRoom = kBlock + HWY_MAX_BYTES / sizeof(int32_t);
constexpr size_t kTables = 4; ///< counted in turns, so that runs of one bin do not wait for each other
constexpr size_t kFlush = size_t(1) << 31; ///< 32-bit counters
/// Whole rounds only; returns how many bins it took.
size_t countInTurns(const int32_t* bins, size_t n, uint32_t* tables, size_t stride)
{
    static_assert(kTables == 4);
    uint32_t *a = tables, *b = a + stride, *c = b + stride, *d = c + stride;
    size_t i = 0;
    for (; i + kTables <= n; i += kTables) {
        uint64_t two[2];
        std::memcpy(two, bins + i, sizeof two);
        ++a[two[0] & 0xffffffff];
        ++b[two[0] >> 32];
        ++c[two[1] & 0xffffffff];
        ++d[two[1] >> 32];
    }
    return i;
}

constexpr size_t kMostGuessed = size_t(1) << 22; ///< bins whose numbers a float holds with room for the slack

} // namespace

EdgeBins::EdgeBins(std::span<const float> edges, bool magnitudes)
    : m_edges(edges)
    , m_magnitudes(magnitudes)
{
    m_zeroBin = binOf(0.0f);
    const float low = edges.front(), span = edges.back() - low;
    const auto n = static_cast<float>(bins());
    const float inverse = n / span;
    if (!std::isfinite(span) || !std::isfinite(inverse) || bins() > kMostGuessed)
        return;
    // The guess never falls as the value rises; so where it is wrong, it is no farther from a whole number than the
    // guess of an edge is. The margin covers the additions of the slack itself.
    float slack = 0;
    for (size_t i = 0; i < edges.size(); ++i)
        slack = std::max(slack, std::fabs((edges[i] - low) * inverse - static_cast<float>(i)));
    slack = slack * 1.01f + n * 2.4e-7f;
    m_guess = { low, inverse, slack, low, edges.back(), n - 1, magnitudes };
    m_guessed = slack < 0.25f;
}

size_t EdgeBins::binOf(float value) const
{
    if (!(value >= m_edges.front()) || value > m_edges.back())
        return bins();
    const auto above = std::upper_bound(m_edges.begin(), m_edges.end(), value);
    return std::min<size_t>(static_cast<size_t>(above - m_edges.begin()) - 1, bins() - 1);
}

/// The bin of a value inside the edges, given one at most one away.
size_t EdgeBins::near(float value, size_t guess) const
{
    if (value < m_edges[guess])
        return guess - 1;
    return value >= m_edges[guess + 1] && guess + 1 < bins() ? guess + 1 : guess;
}

void EdgeBins::countReference(std::span<const float> x, std::span<uint64_t> counts) const
{
    for (const float v : x)
        if (const size_t bin = binOf(m_magnitudes ? std::fabs(v) : v); bin < bins())
            ++counts[bin];
}

void EdgeBins::count(std::span<const float> x, std::span<uint64_t> counts, std::vector<uint32_t>& scratch) const
{
    if (!m_guessed)
        return countReference(x, counts);
    const size_t stride = bins();
    // Tables cost a sweep over all bins at the end.
    const bool useTables = x.size() > 2 * stride;
    if (useTables)
        scratch.assign(kTables * stride, 0);
    std::array<int32_t, kRoom> sure, doubtful;
    size_t zeros = 0, sinceFlush = 0;
    auto flush = [&] {
        for (size_t i = 0; i < stride; ++i)
            for (size_t t = 0; t < kTables; ++t)
                counts[i] += scratch[t * stride + i];
        std::fill(scratch.begin(), scratch.end(), 0u);
        sinceFlush = 0;
    };
    for (size_t begin = 0; begin < x.size(); begin += kBlock) {
        const auto block = x.subspan(begin, std::min(kBlock, x.size() - begin));
        const GuessedBins found
            = HWY_DYNAMIC_DISPATCH(guessVectors)(block.data(), block.size(), m_guess, sure.data(), doubtful.data());
        zeros += found.zeros;
        size_t i = 0;
        if (useTables)
            i = countInTurns(sure.data(), found.sure, scratch.data(), stride);
        for (; i < found.sure; ++i)
            ++counts[static_cast<uint32_t>(sure[i])];
        for (i = 0; i < found.doubtful; ++i) {
            const float v = block[static_cast<uint32_t>(doubtful[i])], value = m_magnitudes ? std::fabs(v) : v;
            const float guess = (value - m_guess.low) * m_guess.inverse;
            ++counts[near(value, static_cast<size_t>(std::clamp(guess, 0.0f, m_guess.most)))];
        }
        countReference(block.subspan(found.taken), counts);
        sinceFlush += block.size();
        if (useTables && sinceFlush >= kFlush)
            flush();
    }
    if (useTables)
        flush();
    if (m_zeroBin < bins())
        counts[m_zeroBin] += zeros;
}

} // namespace qs
#endif
