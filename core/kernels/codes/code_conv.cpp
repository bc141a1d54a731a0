// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/codes/code_conv.h"

#include "core/kernels/codes/dot_im2col.h"

#include <algorithm>
#include <cstring>

namespace qs {

namespace {

/// A tile's gathered rows stay in the second cache level; its sums, where they are made, in the first.
constexpr int64_t kGatheredBytes = 192 * 1024;
constexpr int64_t kMostTileRows = 960;
constexpr int64_t kSumRows = 48;
constexpr int64_t kPairRows = 60; ///< at most

bool movedZerosVanish(Codes w, std::span<const int32_t> zeros)
{
    return std::ranges::all_of(zeros, [&](int32_t z) { return z == (w.isSigned ? 0 : 128); })
        && (w.isSigned || !zeros.empty());
}

int64_t roundUp(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

int64_t tileRows(int64_t rowBytes)
{
    // Whole register tiles of either height.
    return std::clamp<int64_t>(kGatheredBytes / std::max<int64_t>(rowBytes, 1) / 24 * 24, 24, kMostTileRows);
}

int64_t rowBytes(const IntegerConv& c) { return dotDepth(c.taps() * (c.inChannels / c.groups)); }

/// Positions whose widened rows are made at a time: whole register tiles that stay in the second cache level.
int64_t pairRows(const IntegerConv& c)
{
    const int64_t bytes = 2 * std::max<int64_t>(rowBytes(c), 1); // without channels there are none
    return c.depthwise() ? kPairRows : std::clamp<int64_t>(kGatheredBytes / bytes / 6 * 6, 6, kPairRows);
}

/// Whether the rows of the left matrix can be read where they are.
bool readsInPlace(const IntegerConv& c, bool isSigned)
{
    return c.readsOwnPositions() && !isSigned && c.inChannels / c.groups % 4 == 0;
}

} // namespace

CodeConvWeights packCodeConv(const IntegerConv& conv, Codes w, std::span<const int32_t> wZero, CodeProducts products)
{
    CodeConvWeights packed { conv.inChannels, conv.outChannels, conv.groups, {}, {}, {} };
    if (!useDots(products) || (conv.depthwise() && !movedZerosVanish(w, wZero))) {
        packed.pairs = packConvWeights(conv, w, wZero);
        return packed;
    }
    if (conv.depthwise()) {
        packed.dotDepthwise = packDepthwise(w, wZero, conv.inChannels, conv.kernel[0] * conv.kernel[1], conv.kernel[2]);
        return packed;
    }
    const int64_t columns = conv.outChannels / conv.groups, depth = conv.taps() * (conv.inChannels / conv.groups);
    for (int64_t g = 0; g < conv.groups; ++g) {
        const std::vector<uint8_t> turned = channelsLastWeights(conv, w, g);
        packed.dots.push_back(
            packDots({ { turned.data(), w.isSigned }, depth, columns, 1, depth }, groupOf(wZero, g, columns)));
    }
    return packed;
}

CodeConv::CodeConv(std::shared_ptr<const CodeConvWeights> weights, bool xSigned, int32_t xZero, const Requantization& q)
    : m_weights(std::move(weights))
    , m_x { nullptr, xSigned }
    , m_xZero(xZero)
    , m_multiplier(q.multiplier.begin(), q.multiplier.end())
    , m_bias(q.bias.begin(), q.bias.end())
    , m_requantization(q)
{
    m_requantization.multiplier = m_multiplier;
    m_requantization.bias = m_bias;
    if (!m_weights->useDots())
        return;
    m_narrow = !m_multiplier.empty() && staysInRange(m_multiplier);
    const int32_t zero = unsignedZero(xZero, xSigned);
    const auto complete = [&](DotEpilogue& epilogue) {
        epilogue.zeroPoint = q.zeroPoint;
        epilogue.isSigned = q.low < 0;
    };
    if (const auto& w = m_weights->dotDepthwise) {
        m_depthwise = depthwiseEpilogue(*w, zero, m_bias, m_multiplier);
        m_depthwiseSums = depthwiseEpilogue(*w, zero, {}, {});
        complete(m_depthwise);
        return;
    }
    const int64_t columns = m_weights->outChannels / m_weights->groups;
    for (int64_t g = 0; g < m_weights->groups; ++g) {
        const DotMatrix& b = m_weights->dots[static_cast<size_t>(g)];
        m_narrow = m_narrow && b.zeros.empty();
        m_sumStart.push_back(dotStart(b, zero, {}));
        DotEpilogue epilogue { dotStart(b, zero, groupOf<int32_t>(m_bias, g, columns)), {}, 0, false };
        epilogue.multiplier.assign(epilogue.start.size(), 0);
        const auto m = groupOf<float>(m_multiplier, g, columns);
        for (size_t c = 0; !m.empty() && c < static_cast<size_t>(columns); ++c)
            epilogue.multiplier[c] = m[m.size() == 1 ? 0 : c];
        complete(epilogue);
        m_epilogues.push_back(std::move(epilogue));
    }
}

int64_t CodeConv::scratchBytes(const IntegerConv& conv) const
{
    const int64_t positions = std::max<int64_t>(conv.outPositions(), 1);
    const int64_t sumBytes = roundUp(std::min(std::max(kSumRows, kPairRows), positions) * conv.outChannels * 4, 64);
    if (!m_weights->useDots())
        return (conv.depthwise() ? sumBytes : 0) + integerConvScratch(conv, std::min(pairRows(conv), positions)) * 2
            + 64;
    if (m_weights->dotDepthwise)
        return sumBytes + conv.inChannels + 64;
    const int64_t gathered = readsInPlace(conv, m_x.isSigned) ? 0 : std::min(tileRows(rowBytes(conv)), positions);
    return sumBytes + gathered * rowBytes(conv) + kGatherSlack + 64;
}

/// Calls done(group, rows of the left matrix, first position) for tiles of at most `mostRows` positions.
template <class Done>
void CodeConv::forEachTile(const IntegerConv& c, const uint8_t* image, int64_t first, int64_t count, std::byte* scratch,
    int64_t mostRows, Done done) const
{
    const bool inPlace = readsInPlace(c, m_x.isSigned);
    const int64_t channels = c.inChannels / c.groups, bytes = rowBytes(c), most = std::min(tileRows(bytes), mostRows);
    auto* gathered = reinterpret_cast<uint8_t*>(scratch);
    for (int64_t at = 0; at < count; at += most)
        for (int64_t g = 0; g < c.groups; ++g) {
            DotRows rows { gathered, std::min(most, count - at), bytes };
            if (inPlace)
                rows = { image + (first + at) * c.inChannels + g * channels, rows.rows, c.inChannels };
            else
                im2colRows(c, { image, m_x.isSigned }, static_cast<uint8_t>(m_xZero), g * channels, first + at,
                    rows.rows, gathered, bytes);
            done(static_cast<size_t>(g), rows, at);
        }
}

template <class Out>
void CodeConv::depthwiseLines(
    const IntegerConv& c, const uint8_t* image, int64_t first, int64_t count, std::byte* scratch, Out* out) const
{
    const DotDepthwise& w = *m_weights->dotDepthwise;
    auto* zeros = reinterpret_cast<uint8_t*>(scratch);
    std::memset(zeros, static_cast<uint8_t>(m_xZero), static_cast<size_t>(c.inChannels));
    std::vector<const uint8_t*> rows(static_cast<size_t>(c.kernel[0] * c.kernel[1]));
    DepthwiseLine line { rows, c.in[2], c.stride[2], c.dilation[2], c.pad[2], 0, 0, zeros,
        static_cast<uint8_t>(m_x.isSigned ? 0x80 : 0) };
    for (int64_t done = 0; done < count; done += line.last - line.first) {
        const int64_t position = first + done, y = position / c.out[2] % c.out[1], z = position / c.out[2] / c.out[1];
        line.first = position % c.out[2];
        line.last = std::min(c.out[2], line.first + count - done);
        for (int64_t k = 0; k < static_cast<int64_t>(rows.size()); ++k) {
            const int64_t iz = z * c.stride[0] + k / c.kernel[1] * c.dilation[0] - c.pad[0];
            const int64_t iy = y * c.stride[1] + k % c.kernel[1] * c.dilation[1] - c.pad[1];
            const bool inside = iz >= 0 && iz < c.in[0] && iy >= 0 && iy < c.in[1];
            rows[static_cast<size_t>(k)] = inside ? image + (iz * c.in[1] + iy) * c.in[2] * c.inChannels : nullptr;
        }
        if constexpr (std::is_same_v<Out, uint8_t>)
            depthwiseCodes(line, w, m_depthwise, out + done * c.outChannels);
        else
            depthwiseSums(line, w, m_depthwiseSums, out + done * c.outChannels);
    }
}

void CodeConv::codes(
    const IntegerConv& c, const uint8_t* image, int64_t first, int64_t count, std::byte* scratch, uint8_t* out) const
{
    if (m_narrow && m_weights->dotDepthwise)
        return depthwiseLines(c, image, first, count, scratch, out);
    if (m_narrow)
        return forEachTile(
            c, image, first, count, scratch, kMostTileRows, [&](size_t g, const DotRows& rows, int64_t at) {
                const DotMatrix& b = m_weights->dots[g];
                dotCodes(rows, b, m_epilogues[g], out + at * c.outChannels + static_cast<int64_t>(g) * b.columns,
                    c.outChannels);
            });
    if (!m_weights->useDots() && !m_weights->depthwise()) {
        const int64_t most = pairRows(c);
        for (int64_t at = 0; at < count; at += most)
            integerConvCodes(c, { image, m_x.isSigned }, m_xZero, m_weights->pairs, first + at,
                std::min(most, count - at), reinterpret_cast<int16_t*>(scratch), m_requantization,
                out + at * c.outChannels);
        return;
    }
    // The sums of some rows at a time lie at the start of the scratch memory.
    const int64_t most = std::min(m_weights->useDots() ? kSumRows : kPairRows, std::max<int64_t>(c.outPositions(), 1));
    auto* tile = reinterpret_cast<int32_t*>(scratch);
    std::byte* rest = scratch + roundUp(most * c.outChannels * 4, 64);
    for (int64_t at = 0; at < count; at += most) {
        const int64_t rows = std::min(most, count - at);
        sums(c, image, first + at, rows, rest, tile);
        requantize(tile, rows, c.outChannels, m_requantization, out + at * c.outChannels);
    }
}

void CodeConv::sums(
    const IntegerConv& c, const uint8_t* image, int64_t first, int64_t count, std::byte* scratch, int32_t* out) const
{
    if (m_weights->dotDepthwise)
        return depthwiseLines(c, image, first, count, scratch, out);
    if (m_weights->useDots())
        return forEachTile(
            c, image, first, count, scratch, kMostTileRows, [&](size_t g, const DotRows& rows, int64_t at) {
                const DotMatrix& b = m_weights->dots[g];
                int32_t* to = out + at * c.outChannels + static_cast<int64_t>(g) * b.columns;
                dotSums(rows, b, m_sumStart[g].data(), to, c.outChannels);
                correctRows(rows, b, to, c.outChannels);
            });
    const int64_t most = pairRows(c);
    for (int64_t at = 0; at < count; at += most)
        integerConvRows(c, { image, m_x.isSigned }, m_xZero, m_weights->pairs, first + at, std::min(most, count - at),
            reinterpret_cast<int16_t*>(scratch), out + at * c.outChannels);
}

} // namespace qs
