// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/codes/integer_conv.h"

#include "core/kernels/codes/integer_product_fast.h"

#include <algorithm>

namespace qs {

namespace {

/// Where the kernel rows of one output row read an image (channels last).
class KernelRows {
public:
    KernelRows(const IntegerConv& c, const uint8_t* image)
        : m_conv(c)
        , m_image(image)
        , m_rows(static_cast<size_t>(c.kernel[0] * c.kernel[1]))
    {
    }
    /// First code of each kernel row's input row; null = outside. `line`: output row, those of all planes counted on.
    std::span<const uint8_t* const> at(int64_t line)
    {
        const auto& c = m_conv;
        const int64_t z = line / c.out[1] * c.stride[0] - c.pad[0], y = line % c.out[1] * c.stride[1] - c.pad[1];
        for (size_t k = 0; k < m_rows.size(); ++k) {
            const int64_t iz = z + static_cast<int64_t>(k) / c.kernel[1] * c.dilation[0];
            const int64_t iy = y + static_cast<int64_t>(k) % c.kernel[1] * c.dilation[1];
            const bool inside = iz >= 0 && iz < c.in[0] && iy >= 0 && iy < c.in[1];
            m_rows[k] = inside ? m_image + (iz * c.in[1] + iy) * c.in[2] * c.inChannels : nullptr;
        }
        return m_rows;
    }

private:
    const IntegerConv& m_conv;
    const uint8_t* m_image;
    std::vector<const uint8_t*> m_rows;
};

/// Calls visit(output row, first column, last column) for the parts of rows that positions first..first+count-1 are.
template <class Visit> void forEachLine(const IntegerConv& c, int64_t first, int64_t count, Visit visit)
{
    for (int64_t left = count, x = first % c.out[2], line = first / c.out[2]; left > 0; x = 0, ++line) {
        const int64_t last = std::min(c.out[2], x + left);
        visit(line, x, last);
        left -= last - x;
    }
}

/// Output columns whose taps all lie inside a row.
struct MiddleColumns {
    explicit MiddleColumns(const IntegerConv& c)
        : first((c.pad[2] + c.stride[2] - 1) / c.stride[2])
    {
        const int64_t room = c.in[2] - 1 - (c.kernel[2] - 1) * c.dilation[2] + c.pad[2];
        last = room < 0 ? 0 : room / c.stride[2] + 1;
    }
    /// How many columns from `column` on, which ends before `end`, read their rows alike.
    int64_t together(int64_t column, int64_t end) const
    {
        return column >= first && column < last ? std::min(end, last) - column : 1;
    }
    int64_t first, last = 0;
};

/// The codes that one kernel row reads for the output column whose first tap is `column`.
void addRow(const IntegerConv& c, const uint8_t* row, int64_t column, std::vector<CodeRun>& runs)
{
    const int64_t channels = c.inChannels / c.groups, taps = c.kernel[2];
    const auto add = [&](const uint8_t* codes, int64_t n) {
        if (n > 0)
            runs.push_back({ codes, n * channels });
    };
    if (!row)
        return add(nullptr, taps);
    if (c.groups == 1 && c.dilation[2] == 1) { // neighbouring taps lie side by side
        const int64_t before = std::clamp<int64_t>(-column, 0, taps);
        const int64_t last = std::clamp<int64_t>(c.in[2] - column, before, taps);
        add(nullptr, before);
        add(row + (column + before) * c.inChannels, last - before);
        return add(nullptr, taps - last);
    }
    for (int64_t k = 0; k < taps; ++k, column += c.dilation[2])
        add(column >= 0 && column < c.in[2] ? row + column * c.inChannels : nullptr, 1);
}

/// Rows of the left matrix: the input codes that output positions read, tap by tap, from `firstChannel` on.
void gatherRows(
    const IntegerConv& c, Codes x, int32_t xZero, int64_t firstChannel, int64_t first, int64_t count, int16_t* rows)
{
    const int64_t depth = c.taps() * (c.inChannels / c.groups), length = widenedDepth(depth);
    const uint8_t* end = x.data + c.inPositions() * c.inChannels;
    if (c.readsOwnPositions() && c.groups == 1 && depth == length)
        return widen(x.from(first * depth), count * depth, 1, xZero, rows);
    std::vector<CodeRun> runs;
    const MiddleColumns middle(c);
    KernelRows kernelRows(c, x.data + firstChannel);
    forEachLine(c, first, count, [&](int64_t line, int64_t from, int64_t to) {
        const auto inputs = kernelRows.at(line);
        for (int64_t p = from; p < to;) {
            const int64_t together = middle.together(p, to);
            runs.clear();
            for (const uint8_t* row : inputs)
                addRow(c, row, p * c.stride[2] - c.pad[2], runs);
            widenRows({ runs, together, c.stride[2] * c.inChannels, length }, x.isSigned, xZero, end, rows);
            rows += together * length;
            p += together;
        }
    });
}

/// Depthwise output rows, positions whose taps all lie inside together.
class DepthwiseRows {
public:
    /// `scratch`: what integerConvScratch() says.
    DepthwiseRows(const IntegerConv& c, Codes x, int32_t xZero, const PackedDepthwise& w, int16_t* scratch)
        : m_conv(c)
        , m_x(x)
        , m_w(w)
        , m_start(reinterpret_cast<int32_t*>(scratch))
        , m_zeros(reinterpret_cast<uint8_t*>(m_start + c.inChannels))
        , m_taps(static_cast<size_t>(c.taps()))
    {
        std::fill_n(m_zeros, c.inChannels, static_cast<uint8_t>(xZero));
        for (int64_t i = 0; i < c.inChannels; ++i)
            m_start[i] = wrapped(-int64_t(xZero) * w.sums[static_cast<size_t>(i)]);
    }
    void sums(int64_t first, int64_t count, int32_t* sums)
    {
        const auto& c = m_conv;
        const MiddleColumns middle(c);
        KernelRows kernelRows(c, m_x.data);
        forEachLine(c, first, count, [&](int64_t line, int64_t from, int64_t to) {
            const auto rows = kernelRows.at(line);
            const bool whole = std::ranges::find(rows, nullptr) == rows.end();
            for (int64_t p = from; p < to;) {
                const int64_t together = whole ? middle.together(p, to) : 1;
                findTaps(rows, p * c.stride[2] - c.pad[2]);
                const DepthwiseRun run { m_taps, together, c.stride[2] * c.inChannels, m_x.isSigned };
                depthwisePairSums(run, m_w, m_start, sums);
                p += together;
                sums += together * c.inChannels;
            }
        });
    }

private:
    void findTaps(std::span<const uint8_t* const> rows, int64_t column)
    {
        size_t tap = 0;
        for (const uint8_t* row : rows)
            for (int64_t k = 0, x = column; k < m_conv.kernel[2]; ++k, x += m_conv.dilation[2])
                m_taps[tap++] = row && x >= 0 && x < m_conv.in[2] ? row + x * m_conv.inChannels : m_zeros;
    }
    const IntegerConv& m_conv;
    Codes m_x;
    const PackedDepthwise& m_w;
    int32_t* m_start;
    uint8_t* m_zeros;
    std::vector<const uint8_t*> m_taps;
};

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
        packed.depthwise = packDepthwisePairs(w, wZero, conv.inChannels, taps);
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
    if (conv.depthwise())
        return conv.inChannels * 2 + (conv.inChannels + 1) / 2; // what sums start with, a position outside
    return count * widenedDepth(conv.taps() * (conv.inChannels / conv.groups)) + kWidenSlack;
}

void integerConvRows(const IntegerConv& conv, Codes x, int32_t xZero, const PackedConvWeights& w, int64_t first,
    int64_t count, int16_t* scratch, int32_t* sums)
{
    if (conv.depthwise())
        return DepthwiseRows(conv, x, xZero, w.depthwise, scratch).sums(first, count, sums);
    const int64_t channels = conv.inChannels / conv.groups, columns = conv.outChannels / conv.groups;
    for (int64_t g = 0; g < conv.groups; ++g) {
        gatherRows(conv, x, xZero, g * channels, first, count, scratch);
        multiply(scratch, count, w.groups[static_cast<size_t>(g)], sums + g * columns, conv.outChannels);
    }
}

void integerConvCodes(const IntegerConv& conv, Codes x, int32_t xZero, const PackedConvWeights& w, int64_t first,
    int64_t count, int16_t* scratch, const Requantization& q, uint8_t* out)
{
    const int64_t channels = conv.inChannels / conv.groups, columns = conv.outChannels / conv.groups;
    for (int64_t g = 0; g < conv.groups; ++g) {
        gatherRows(conv, x, xZero, g * channels, first, count, scratch);
        Requantization own = q;
        own.multiplier = groupOf(q.multiplier, g, columns);
        own.bias = groupOf(q.bias, g, columns);
        multiplyToCodes(scratch, count, w.groups[static_cast<size_t>(g)], own, out + g * columns, conv.outChannels);
    }
}

} // namespace qs
