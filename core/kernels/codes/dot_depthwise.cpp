// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/codes/dot_depthwise.h"

#include "core/kernels/cpu/dot_target.h"

#include <algorithm>

namespace qs {

namespace {

/// 64 channels.
struct Wide {
    using V = __m512i;
    using Mask = __mmask64;
    static constexpr int64_t kChannels = 64;
    QS_DOTS_INLINE static V set(uint8_t v) { return _mm512_set1_epi8(static_cast<char>(v)); }
    QS_DOTS_INLINE static Mask mask(int64_t n) { return n >= 64 ? ~Mask(0) : (Mask(1) << n) - 1; }
    QS_DOTS_INLINE static V load(const uint8_t* p, Mask m) { return _mm512_maskz_loadu_epi8(m, p); }
    QS_DOTS_INLINE static V aligned(const void* p) { return _mm512_load_si512(p); }
    QS_DOTS_INLINE static V flip(V a, V b) { return _mm512_xor_si512(a, b); }
    QS_DOTS_INLINE static V low8(V a, V b) { return _mm512_unpacklo_epi8(a, b); }
    QS_DOTS_INLINE static V high8(V a, V b) { return _mm512_unpackhi_epi8(a, b); }
    QS_DOTS_INLINE static V low16(V a, V b) { return _mm512_unpacklo_epi16(a, b); }
    QS_DOTS_INLINE static V high16(V a, V b) { return _mm512_unpackhi_epi16(a, b); }
    QS_DOTS_INLINE static V dot(V sum, V a, V b) { return addDots(sum, a, b); }
    QS_DOTS_INLINE static V round(V sum, const float* m)
    {
        return _mm512_cvtps_epi32(_mm512_mul_ps(_mm512_cvtepi32_ps(sum), _mm512_load_ps(m)));
    }
    QS_DOTS_INLINE static V narrow32(V a, V b) { return _mm512_packs_epi32(a, b); }
    QS_DOTS_INLINE static V narrow16(V a, V b) { return _mm512_packs_epi16(a, b); }
    QS_DOTS_INLINE static V set16(int16_t v) { return _mm512_set1_epi16(v); }
    QS_DOTS_INLINE static V add16(V a, V b) { return _mm512_adds_epi16(a, b); }
    QS_DOTS_INLINE static void store(uint8_t* p, Mask m, int64_t n, V v)
    {
        if (n >= kChannels)
            _mm512_storeu_si512(p, v);
        else
            _mm512_mask_storeu_epi8(p, m, v);
    }
};

/// 32 channels.
struct Half {
    using V = __m256i;
    using Mask = __mmask32;
    static constexpr int64_t kChannels = 32;
    QS_DOTS_INLINE static V set(uint8_t v) { return _mm256_set1_epi8(static_cast<char>(v)); }
    QS_DOTS_INLINE static Mask mask(int64_t n) { return n >= 32 ? ~Mask(0) : (Mask(1) << n) - 1; }
    QS_DOTS_INLINE static V load(const uint8_t* p, Mask m) { return _mm256_maskz_loadu_epi8(m, p); }
    QS_DOTS_INLINE static V aligned(const void* p) { return _mm256_load_si256(static_cast<const __m256i*>(p)); }
    QS_DOTS_INLINE static V flip(V a, V b) { return _mm256_xor_si256(a, b); }
    QS_DOTS_INLINE static V low8(V a, V b) { return _mm256_unpacklo_epi8(a, b); }
    QS_DOTS_INLINE static V high8(V a, V b) { return _mm256_unpackhi_epi8(a, b); }
    QS_DOTS_INLINE static V low16(V a, V b) { return _mm256_unpacklo_epi16(a, b); }
    QS_DOTS_INLINE static V high16(V a, V b) { return _mm256_unpackhi_epi16(a, b); }
    QS_DOTS_INLINE static V dot(V sum, V a, V b) { return addDots(sum, a, b); }
    QS_DOTS_INLINE static V round(V sum, const float* m)
    {
        return _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_cvtepi32_ps(sum), _mm256_load_ps(m)));
    }
    QS_DOTS_INLINE static V narrow32(V a, V b) { return _mm256_packs_epi32(a, b); }
    QS_DOTS_INLINE static V narrow16(V a, V b) { return _mm256_packs_epi16(a, b); }
    QS_DOTS_INLINE static V set16(int16_t v) { return _mm256_set1_epi16(v); }
    QS_DOTS_INLINE static V add16(V a, V b) { return _mm256_adds_epi16(a, b); }
    QS_DOTS_INLINE static void store(uint8_t* p, Mask m, int64_t n, V v)
    {
        if (n >= kChannels)
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v);
        else
            _mm256_mask_storeu_epi8(p, m, v);
    }
};

/// Channel of dword `d` of the block's interleaved vectors.
template <class W> int64_t channelOf(int64_t d)
{
    constexpr int64_t perVector = W::kChannels / 4;
    return d % perVector / 4 * 16 + d / perVector * 4 + d % 4;
}

/// Calls visit(first channel, vector kind) for each block.
template <class Visit> void forEachBlock(int64_t channels, Visit visit)
{
    int64_t c = 0;
    for (; channels - c > Half::kChannels; c += Wide::kChannels)
        visit(c, Wide {});
    if (c < channels)
        visit(c, Half {});
}

int64_t paddedChannels(int64_t channels)
{
    int64_t end = 0;
    forEachBlock(channels, [&](int64_t c, auto w) { end = c + decltype(w)::kChannels; });
    return end;
}

/// The same four taps of a block's channels side by side.
template <class W> struct Interleaved {
    typename W::V part[4];
};

template <class W>
QS_DOTS_INLINE Interleaved<W> interleave(typename W::V a, typename W::V b, typename W::V c, typename W::V d)
{
    const auto abLow = W::low8(a, b), abHigh = W::high8(a, b), cdLow = W::low8(c, d), cdHigh = W::high8(c, d);
    return { { W::low16(abLow, cdLow), W::high16(abLow, cdLow), W::low16(abHigh, cdHigh), W::high16(abHigh, cdHigh) } };
}

template <class W> QS_DOTS_INLINE void addTaps(typename W::V (&sum)[4], const Interleaved<W>& x, const int8_t* weights)
{
    for (int q = 0; q < 4; ++q)
        sum[q] = W::dot(sum[q], x.part[q], W::aligned(weights + q * W::kChannels));
}

template <class W> QS_DOTS_INLINE void startSums(typename W::V (&sum)[4], const int32_t* start)
{
    for (int q = 0; q < 4; ++q)
        sum[q] = W::aligned(start + q * W::kChannels / 4);
}

/// What becomes of the sums of one block.
struct CodesOut {
    uint8_t* out;
    const DotEpilogue& epilogue;

    template <class W>
    QS_DOTS_INLINE void store(typename W::V (&sum)[4], int64_t at, int64_t c, typename W::Mask mask, int64_t n) const
    {
        const float* m = epilogue.multiplier.data() + c;
        constexpr int64_t step = W::kChannels / 4;
        const auto zero
            = W::set16(static_cast<int16_t>(epilogue.isSigned ? epilogue.zeroPoint : epilogue.zeroPoint - 128));
        const auto low = W::narrow32(W::round(sum[0], m), W::round(sum[1], m + step));
        const auto high = W::narrow32(W::round(sum[2], m + 2 * step), W::round(sum[3], m + 3 * step));
        const auto codes = W::narrow16(W::add16(low, zero), W::add16(high, zero));
        W::store(out + at + c, mask, n, W::flip(codes, W::set(epilogue.isSigned ? 0 : 0x80)));
    }
};

struct SumsOut {
    int32_t* out;

    template <class W>
    QS_DOTS_INLINE void store(
        typename W::V (&sum)[4], int64_t at, int64_t c, typename W::Mask /*mask*/, int64_t n) const
    {
        alignas(64) int32_t flat[W::kChannels];
        for (int q = 0; q < 4; ++q)
            __builtin_memcpy(flat + q * W::kChannels / 4, &sum[q], sizeof(sum[q]));
        for (int64_t d = 0; d < W::kChannels; ++d)
            if (const int64_t channel = channelOf<W>(d); channel < n)
                out[at + c + channel] = flat[d];
    }
};

/// Any taps; the pointers of one position after another.
template <class W, class Out>
QS_DOTS void block(const uint8_t* const* taps, const DotDepthwise& w, const DotEpilogue& epilogue, uint8_t flipped,
    int64_t c, int64_t at, const Out& out)
{
    const int64_t n = w.channels - c;
    const auto mask = W::mask(n);
    const auto flip = W::set(flipped);
    typename W::V sum[4];
    startSums<W>(sum, epilogue.start.data() + c);
    const auto fours = static_cast<int64_t>(w.fours.size());
    const int8_t* weights = w.weights.data() + c * 4 * fours;
    for (int64_t f = 0; f < fours; ++f, taps += 4, weights += 4 * W::kChannels) {
        const auto load = [&](int i) QS_DOTS { return W::flip(W::load(taps[i] + c, mask), flip); };
        addTaps<W>(sum, interleave<W>(load(0), load(1), load(2), load(3)), weights);
    }
    out.template store<W>(sum, at, c, mask, n);
}

template <class Out>
void anyLine(const DepthwiseLine& line, const DotDepthwise& w, const DotEpilogue& epilogue, const Out& out)
{
    std::vector<const uint8_t*> taps(w.fours.size() * 4, line.zeros);
    for (int64_t x = line.first; x < line.last; ++x) {
        for (size_t f = 0; f < w.fours.size(); ++f)
            for (size_t i = 0; i < 4; ++i)
                if (const int64_t tap = w.fours[f][i]; tap >= 0) {
                    const uint8_t* row = line.rows[static_cast<size_t>(tap / w.kernelColumns)];
                    const int64_t column = x * line.stride + tap % w.kernelColumns * line.dilation - line.pad;
                    const bool inside = row && column >= 0 && column < line.width;
                    taps[f * 4 + i] = inside ? row + column * w.channels : line.zeros;
                }
        forEachBlock(w.channels, [&](int64_t c, auto kind) {
            block<decltype(kind)>(taps.data(), w, epilogue, line.flip, c, (x - line.first) * w.channels, out);
        });
    }
}

/// Three rows by three columns. Where the window moves by one, each interleaved column serves three positions.
template <class W, bool kMovesByOne, class Out>
QS_DOTS void threeByThree(
    const DepthwiseLine& line, const DotDepthwise& w, const DotEpilogue& epilogue, int64_t c, const Out& out)
{
    const int64_t n = w.channels - c;
    const auto mask = W::mask(n);
    const auto flip = W::set(line.flip);
    const int8_t* weights = w.weights.data() + c * 12;
    const uint8_t* rows[3];
    int64_t steps[3];
    for (size_t i = 0; i < 3; ++i) {
        rows[i] = (line.rows[i] ? line.rows[i] : line.zeros) + c;
        steps[i] = line.rows[i] ? w.channels : 0;
    }
    const auto outside = W::flip(W::load(line.zeros + c, mask), flip);
    const Interleaved<W> nothing = interleave<W>(outside, outside, outside, outside);
    const auto column = [&](int64_t x) QS_DOTS -> Interleaved<W> {
        if (x < 0 || x >= line.width)
            return nothing;
        const auto a = W::flip(W::load(rows[0] + x * steps[0], mask), flip);
        const auto b = W::flip(W::load(rows[1] + x * steps[1], mask), flip);
        const auto d = W::flip(W::load(rows[2] + x * steps[2], mask), flip);
        return interleave<W>(a, b, d, d);
    };
    Interleaved<W> left, middle;
    if constexpr (kMovesByOne) {
        left = column(line.first - line.pad);
        middle = column(line.first - line.pad + 1);
    }
    for (int64_t x = line.first; x < line.last; ++x) {
        const int64_t from = x * line.stride - line.pad;
        if constexpr (!kMovesByOne) {
            left = column(from);
            middle = column(from + line.dilation);
        }
        const Interleaved<W> right = column(from + 2 * line.dilation);
        typename W::V sum[4];
        startSums<W>(sum, epilogue.start.data() + c);
        addTaps<W>(sum, left, weights);
        addTaps<W>(sum, middle, weights + 4 * W::kChannels);
        addTaps<W>(sum, right, weights + 8 * W::kChannels);
        out.template store<W>(sum, (x - line.first) * w.channels, c, mask, n);
        left = middle;
        middle = right;
    }
}

template <class Out>
void depthwiseLine(const DepthwiseLine& line, const DotDepthwise& w, const DotEpilogue& epilogue, const Out& out)
{
    if (w.kernelRows != 3 || w.kernelColumns != 3)
        return anyLine(line, w, epilogue, out);
    const bool movesByOne = line.stride == 1 && line.dilation == 1;
    forEachBlock(w.channels, [&](int64_t c, auto kind) {
        if (movesByOne)
            threeByThree<decltype(kind), true>(line, w, epilogue, c, out);
        else
            threeByThree<decltype(kind), false>(line, w, epilogue, c, out);
    });
}

} // namespace

DotDepthwise packDepthwise(
    Codes w, std::span<const int32_t> zeroPoints, int64_t channels, int64_t kernelRows, int64_t kernelColumns)
{
    DotDepthwise packed { channels, kernelRows, kernelColumns, {}, {}, {} };
    const int64_t taps = kernelRows * kernelColumns;
    std::vector<int64_t> order;
    if (kernelRows == 3) {
        for (int64_t column = 0; column < kernelColumns; ++column)
            order.insert(order.end(), { column, kernelColumns + column, 2 * kernelColumns + column, -1 });
    } else {
        for (int64_t tap = 0; tap < taps; ++tap)
            order.push_back(tap);
        order.resize(static_cast<size_t>((taps + 3) / 4 * 4), -1);
    }
    for (size_t i = 0; i < order.size(); i += 4)
        packed.fours.push_back({ order[i], order[i + 1], order[i + 2], order[i + 3] });
    packed.weights.assign(static_cast<size_t>(paddedChannels(channels)) * order.size(), 0);
    packed.sums.assign(static_cast<size_t>(channels), 0);
    forEachBlock(channels, [&](int64_t c, auto kind) {
        using W = decltype(kind);
        int8_t* to = packed.weights.data() + c * static_cast<int64_t>(order.size());
        for (size_t f = 0; f < packed.fours.size(); ++f)
            for (int64_t d = 0; d < W::kChannels; ++d)
                for (size_t i = 0; i < 4; ++i, ++to)
                    if (const int64_t channel = c + channelOf<W>(d), tap = packed.fours[f][i];
                        channel < channels && tap >= 0) {
                        *to = static_cast<int8_t>(w.at(channel * taps + tap) - pick(zeroPoints, channel));
                        packed.sums[static_cast<size_t>(channel)] += *to;
                    }
    });
    return packed;
}

DotEpilogue depthwiseEpilogue(
    const DotDepthwise& w, int32_t leftZero, std::span<const int32_t> bias, std::span<const float> multiplier)
{
    DotEpilogue epilogue;
    epilogue.start.assign(static_cast<size_t>(paddedChannels(w.channels)), 0);
    epilogue.multiplier.assign(epilogue.start.size(), 0);
    forEachBlock(w.channels, [&](int64_t c, auto kind) {
        using W = decltype(kind);
        for (int64_t d = 0; d < W::kChannels; ++d) {
            const auto channel = static_cast<size_t>(c + channelOf<W>(d)), at = static_cast<size_t>(c + d);
            if (channel >= w.sums.size())
                continue;
            const int64_t start = (bias.empty() ? 0 : bias[channel]) - int64_t(leftZero) * w.sums[channel];
            epilogue.start[at] = static_cast<int32_t>(static_cast<uint32_t>(static_cast<uint64_t>(start)));
            if (!multiplier.empty())
                epilogue.multiplier[at] = multiplier[multiplier.size() == 1 ? 0 : channel];
        }
    });
    return epilogue;
}

void depthwiseCodes(const DepthwiseLine& line, const DotDepthwise& w, const DotEpilogue& epilogue, uint8_t* out)
{
    depthwiseLine(line, w, epilogue, CodesOut { out, epilogue });
}

void depthwiseSums(const DepthwiseLine& line, const DotDepthwise& w, const DotEpilogue& epilogue, int32_t* out)
{
    depthwiseLine(line, w, epilogue, SumsOut { out });
}

} // namespace qs
