// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/codes/integer_conv.h"

#include "core/kernels/codes/integer_product_fast.h"

#include <algorithm>

namespace qs {

namespace {

IntegerConv::Triple positionAt(const IntegerConv& c, int64_t p)
{
    return { p / (c.out[1] * c.out[2]), p / c.out[2] % c.out[1], p % c.out[2] };
}

/// Input positions that the taps of one output position read; -1 = outside. Kept from position to position.
class TapPositions {
public:
    explicit TapPositions(const IntegerConv& c)
        : m_conv(c)
        , m_from(static_cast<size_t>(c.taps()))
    {
    }
    const std::vector<int64_t>& at(int64_t position)
    {
        const auto& c = m_conv;
        const auto origin = positionAt(c, position);
        size_t tap = 0;
        for (int64_t z = 0; z < c.kernel[0]; ++z)
            for (int64_t y = 0; y < c.kernel[1]; ++y) {
                const int64_t iz = origin[0] * c.stride[0] + z * c.dilation[0] - c.pad[0];
                const int64_t iy = origin[1] * c.stride[1] + y * c.dilation[1] - c.pad[1];
                const bool inside = iz >= 0 && iz < c.in[0] && iy >= 0 && iy < c.in[1];
                const int64_t row = (iz * c.in[1] + iy) * c.in[2];
                int64_t ix = origin[2] * c.stride[2] - c.pad[2];
                for (int64_t x = 0; x < c.kernel[2]; ++x, ix += c.dilation[2])
                    m_from[tap++] = inside && ix >= 0 && ix < c.in[2] ? row + ix : -1;
            }
        return m_from;
    }

private:
    const IntegerConv& m_conv;
    std::vector<int64_t> m_from;
};

/// One row of the left matrix: the input codes that one output position reads, tap by tap.
void gatherRow(
    const IntegerConv& c, Codes x, int32_t xZero, const std::vector<int64_t>& from, int64_t firstChannel, int16_t* row)
{
    const int64_t channels = c.inChannels / c.groups;
    int16_t* out = row;
    for (size_t tap = 0; tap < from.size();) {
        // Neighbouring positions of ungrouped channels are one run.
        size_t run = 1;
        while (c.groups == 1 && from[tap] >= 0 && tap + run < from.size()
            && from[tap + run] == from[tap] + static_cast<int64_t>(run))
            ++run;
        const int64_t n = static_cast<int64_t>(run) * channels;
        if (from[tap] < 0)
            std::fill(out, out + n, int16_t(0));
        else
            widenRun(x.from(from[tap] * c.inChannels + firstChannel), n, xZero, out);
        out += n;
        tap += run;
    }
    if (c.taps() * channels % 2)
        *out = 0;
}

void depthwiseRows(const IntegerConv& c, Codes x, int32_t xZero, const std::vector<int16_t>& w, int64_t first,
    int64_t count, int32_t* sums)
{
    TapPositions positions(c);
    std::vector<int64_t> from(static_cast<size_t>(c.taps()));
    std::vector<int64_t> taps(from.size());
    for (int64_t p = 0; p < count; ++p) {
        size_t used = 0;
        int64_t tap = 0;
        for (const int64_t position : positions.at(first + p)) {
            if (position >= 0) {
                from[used] = position * c.inChannels;
                taps[used++] = tap * c.inChannels;
            }
            ++tap;
        }
        depthwisePosition(x, xZero, w.data(), from.data(), taps.data(), used, c.inChannels, sums + p * c.inChannels);
    }
}

} // namespace

int64_t IntegerConv::inputPosition(const Triple& at, int64_t tap) const
{
    const Triple k { tap / (kernel[1] * kernel[2]), tap / kernel[2] % kernel[1], tap % kernel[2] };
    int64_t position = 0;
    for (size_t d = 0; d < 3; ++d) {
        const int64_t i = at[d] * stride[d] + k[d] * dilation[d] - pad[d];
        if (i < 0 || i >= in[d])
            return -1;
        position = position * in[d] + i;
    }
    return position;
}

std::vector<uint8_t> channelsLastWeights(const IntegerConv& conv, Codes w, int64_t group)
{
    const int64_t taps = conv.taps(), channels = conv.inChannels / conv.groups;
    const int64_t depth = taps * channels, columns = conv.outChannels / conv.groups;
    const Codes from = w.from(group * columns * depth);
    std::vector<uint8_t> turned(static_cast<size_t>(depth * columns));
    for (int64_t m = 0; m < columns; ++m)
        for (int64_t c = 0; c < channels; ++c)
            for (int64_t tap = 0; tap < taps; ++tap)
                turned[static_cast<size_t>(m * depth + tap * channels + c)]
                    = from.data[(m * channels + c) * taps + tap];
    return turned;
}

PackedConvWeights packConvWeights(const IntegerConv& conv, Codes w, std::span<const int32_t> wZero)
{
    PackedConvWeights packed;
    const int64_t taps = conv.taps(), channels = conv.inChannels / conv.groups;
    if (conv.depthwise()) {
        packed.depthwise.resize(static_cast<size_t>(taps * conv.inChannels));
        for (int64_t c = 0; c < conv.inChannels; ++c)
            for (int64_t tap = 0; tap < taps; ++tap)
                packed.depthwise[static_cast<size_t>(tap * conv.inChannels + c)]
                    = static_cast<int16_t>(w.at(c * taps + tap) - pick(wZero, c));
        return packed;
    }
    const int64_t depth = taps * channels, columns = conv.outChannels / conv.groups;
    for (int64_t g = 0; g < conv.groups; ++g) {
        const std::vector<uint8_t> turned = channelsLastWeights(conv, w, g);
        packed.groups.push_back(
            packCodes({ { turned.data(), w.isSigned }, depth, columns, 1, depth }, groupOf(wZero, g, columns)));
    }
    return packed;
}

int64_t integerConvScratch(const IntegerConv& conv, int64_t count)
{
    return conv.depthwise() ? 0 : count * widenedDepth(conv.taps() * (conv.inChannels / conv.groups));
}

void integerConvRows(const IntegerConv& conv, Codes x, int32_t xZero, const PackedConvWeights& w, int64_t first,
    int64_t count, int16_t* scratch, int32_t* sums)
{
    if (conv.depthwise())
        return depthwiseRows(conv, x, xZero, w.depthwise, first, count, sums);
    const int64_t channels = conv.inChannels / conv.groups, columns = conv.outChannels / conv.groups;
    const int64_t length = widenedDepth(conv.taps() * channels);
    TapPositions positions(conv);
    for (int64_t g = 0; g < conv.groups; ++g) {
        for (int64_t p = 0; p < count; ++p)
            gatherRow(conv, x, xZero, positions.at(first + p), g * channels, scratch + p * length);
        multiply(scratch, count, w.groups[static_cast<size_t>(g)], sums + g * columns, conv.outChannels);
    }
}

} // namespace qs
