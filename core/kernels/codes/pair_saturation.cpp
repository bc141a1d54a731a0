// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/codes/pair_saturation.h"

#include <algorithm>
#include <limits>

namespace qs {

namespace {

constexpr int32_t kLow = std::numeric_limits<int16_t>::min(), kHigh = std::numeric_limits<int16_t>::max();
constexpr int32_t kLargestCode = 255;

/// Whether some pair of unsigned codes leaves 16 bits.
bool canSaturate(int32_t w0, int32_t w1)
{
    return kLargestCode * (std::max(w0, 0) + std::max(w1, 0)) > kHigh
        || kLargestCode * (std::min(w0, 0) + std::min(w1, 0)) < kLow;
}

int32_t codeAt(const CodeMatrix& m, int64_t row, int64_t column)
{
    return m.codes.at(row * m.rowStride + column * m.columnStride);
}

} // namespace

SaturationTable saturationTable(const CodeMatrix& b)
{
    SaturationTable table;
    table.depth = b.rows;
    table.first.push_back(0);
    for (int64_t c = 0; c < b.columns; ++c) {
        for (int64_t k = 0; k < b.rows; k += 2) {
            const int32_t w0 = codeAt(b, k, c), w1 = k + 1 < b.rows ? codeAt(b, k + 1, c) : 0;
            if (canSaturate(w0, w1))
                table.pairs.push_back({ k / 2, w0, w1 });
        }
        table.first.push_back(table.pairs.size());
    }
    return table;
}

void saturatePairs(
    const SaturationTable& table, const uint8_t* row, int32_t* sums, SaturationTally& tally, int64_t firstColumn)
{
    for (size_t c = 0; c + 1 < table.first.size(); ++c)
        for (size_t i = table.first[c]; i < table.first[c + 1]; ++i) {
            // Two neighbours with a weight of more than 127 together: the last pair of an odd depth is never in here.
            const SaturationTable::Pair& p = table.pairs[i];
            const int32_t v = row[2 * p.index] * p.w0 + row[2 * p.index + 1] * p.w1;
            const int32_t kept = std::clamp(v, kLow, kHigh);
            if (kept == v)
                continue;
            sums[c] = static_cast<int32_t>(static_cast<uint32_t>(sums[c]) + static_cast<uint32_t>(kept - v));
            const int64_t column = firstColumn + static_cast<int64_t>(c);
            ++tally.columns[static_cast<size_t>(column)];
            const SaturatedPair pair { column, p.index, row[2 * p.index], row[2 * p.index + 1], p.w0, p.w1 };
            if (losesMore(pair, tally.worst))
                tally.worst = pair;
        }
}

std::vector<SaturationTable> convSaturationTables(const IntegerConv& conv, Codes w)
{
    std::vector<SaturationTable> tables;
    if (conv.groups == conv.inChannels && conv.groups == conv.outChannels)
        return tables;
    const int64_t taps = conv.taps(), channels = conv.inChannels / conv.groups;
    const int64_t depth = taps * channels, columns = conv.outChannels / conv.groups;
    std::vector<uint8_t> turned(static_cast<size_t>(depth * columns));
    for (int64_t g = 0; g < conv.groups; ++g) {
        const uint8_t* from = w.data + g * columns * depth;
        for (int64_t m = 0; m < columns; ++m)
            for (int64_t c = 0; c < channels; ++c)
                for (int64_t tap = 0; tap < taps; ++tap)
                    turned[static_cast<size_t>(m * depth + tap * channels + c)] = from[(m * channels + c) * taps + tap];
        tables.push_back(saturationTable({ { turned.data(), true }, depth, columns, 1, depth }));
    }
    return tables;
}

int64_t saturationScratch(const IntegerConv& conv) { return conv.taps() * (conv.inChannels / conv.groups); }

void saturateConvRows(const IntegerConv& conv, std::span<const SaturationTable> tables, const uint8_t* x, int32_t xZero,
    int32_t shift, int64_t first, int64_t count, uint8_t* scratch, int32_t* sums, SaturationTally& tally)
{
    const int64_t channels = conv.inChannels / conv.groups, columns = conv.outChannels / conv.groups;
    for (size_t g = 0; g < tables.size(); ++g) {
        if (tables[g].pairs.empty())
            continue;
        const int64_t offset = static_cast<int64_t>(g) * columns;
        for (int64_t p = first; p < first + count; ++p) {
            const IntegerConv::Triple at { p / (conv.out[1] * conv.out[2]), p / conv.out[2] % conv.out[1],
                p % conv.out[2] };
            for (int64_t tap = 0; tap < conv.taps(); ++tap) {
                const int64_t from = conv.inputPosition(at, tap);
                const uint8_t* codes = x + from * conv.inChannels + static_cast<int64_t>(g) * channels;
                for (int64_t c = 0; c < channels; ++c)
                    scratch[tap * channels + c] = static_cast<uint8_t>((from < 0 ? xZero : codes[c]) + shift);
            }
            saturatePairs(tables[g], scratch, sums + (p - first) * conv.outChannels + offset, tally, offset);
        }
    }
}

void saturatingSumsReference(const CodeMatrix& a, const CodeMatrix& b, int32_t* sums)
{
    for (int64_t r = 0; r < a.rows; ++r)
        for (int64_t c = 0; c < b.columns; ++c) {
            int64_t sum = 0;
            for (int64_t k = 0; k < a.columns; k += 2) {
                int32_t pair = codeAt(a, r, k) * codeAt(b, k, c);
                if (k + 1 < a.columns)
                    pair += codeAt(a, r, k + 1) * codeAt(b, k + 1, c);
                sum += std::clamp(pair, kLow, kHigh);
            }
            sums[r * b.columns + c] = static_cast<int32_t>(static_cast<uint32_t>(sum));
        }
}

} // namespace qs
