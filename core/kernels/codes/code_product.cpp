// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/codes/code_product.h"

#include <algorithm>

namespace qs {

namespace {

constexpr int64_t kProductTileBytes = 192 * 1024;
constexpr int64_t kBlockRows = 60; ///< at most: what is made of so many rows stays in the cache until it is used

/// Left rows that are moved or padded at a time.
int64_t tileRows(int64_t depth, int64_t rows)
{
    const int64_t fit = std::clamp<int64_t>(kProductTileBytes / std::max<int64_t>(depth, 1) / 24 * 24, 24, 960);
    return std::min(fit, std::max<int64_t>(rows, 1));
}

/// Left rows that are widened at a time: whole register tiles.
int64_t pairRows(int64_t depth)
{
    return std::clamp<int64_t>(kProductTileBytes / (2 * std::max<int64_t>(depth, 1)) / 6 * 6, 6, kBlockRows);
}

int64_t roundUp(int64_t n) { return (n + 63) / 64 * 64; }

/// sums[r][c] -= zero of the row x (column's sum - depth x zero of the column).
void correctLeftZeros(const DotMatrix& b, std::span<const int32_t> zeros, int32_t shift, int64_t rows, int32_t* sums)
{
    for (int64_t r = 0; r < rows; ++r) {
        const auto zero = static_cast<uint32_t>(pick(zeros, r) + shift);
        for (int64_t c = 0; c < b.columns; ++c) {
            uint32_t factor = static_cast<uint32_t>(b.columnSums[static_cast<size_t>(c)]);
            if (!b.zeros.empty())
                factor -= static_cast<uint32_t>(b.depth) * static_cast<uint32_t>(b.zeros[static_cast<size_t>(c)]);
            auto& sum = reinterpret_cast<uint32_t*>(sums)[r * b.columns + c];
            sum -= zero * factor;
        }
    }
}

} // namespace

CodeProduct::CodeProduct(const CodeMatrix& b, std::span<const int32_t> zeroPoints, CodeProducts products)
{
    if (useDots(products))
        m_dots = packDots(b, zeroPoints);
    else
        m_pairs = packCodes(b, zeroPoints);
}

int64_t CodeProduct::scratchBytes(int64_t rows) const
{
    const int64_t block = std::min(kBlockRows, std::max<int64_t>(rows, 1));
    if (!m_dots)
        return roundUp(std::min(pairRows(depth()), block) * widenedDepth(depth()) * 2) + 64;
    const int64_t sums = roundUp(block * columns() * 4);
    return sums + roundUp(tileRows(depth(), rows) * dotDepth(depth())) + 64;
}

/// Calls done(rows as unsigned codes, first row) for parts of the left matrix.
template <class Done> void CodeProduct::forEachTile(Codes a, int64_t rows, std::byte* scratch, Done done) const
{
    const int64_t n = m_dots->depth;
    if (!a.isSigned && n % 4 == 0)
        return done(DotRows { a.data, rows, n }, int64_t(0));
    const int64_t most = tileRows(n, rows), length = dotDepth(n);
    auto* moved = reinterpret_cast<uint8_t*>(scratch);
    for (int64_t first = 0; first < rows; first += most) {
        const int64_t count = std::min(most, rows - first);
        for (int64_t r = 0; r < count; ++r)
            toUnsigned(a.from((first + r) * n), n, moved + r * length);
        done(DotRows { moved, count, length }, first);
    }
}

/// The same for parts widened to 16 bits: done(rows, first row, rows).
template <class Done>
void CodeProduct::forEachWidened(
    Codes a, int64_t rows, std::span<const int32_t> aZero, std::byte* scratch, Done done) const
{
    const int64_t depth = m_pairs.depth, length = widenedDepth(depth), most = pairRows(depth);
    auto* wide = reinterpret_cast<int16_t*>(scratch);
    for (int64_t first = 0; first < rows; first += most) {
        const int64_t count = std::min(most, rows - first);
        if (depth % 2 == 0 && aZero.size() <= 1)
            widen(a.from(first * depth), count * depth, 1, pick(aZero, 0), wide);
        else
            for (int64_t r = 0; r < count; ++r)
                widen(a.from((first + r) * depth), depth, 1, pick(aZero, first + r), wide + r * length);
        done(wide, first, count);
    }
}

void CodeProduct::dotRowSums(
    Codes a, int64_t rows, std::span<const int32_t> aZero, std::byte* scratch, int32_t* out) const
{
    const DotMatrix& b = *m_dots;
    const bool perRow = aZero.size() > 1;
    const LineVector<int32_t> start = perRow ? LineVector<int32_t>(b.columnSums.size(), 0)
                                             : dotStart(b, unsignedZero(pick(aZero, 0), a.isSigned), {});
    forEachTile(a, rows, scratch, [&](const DotRows& tile, int64_t first) {
        int32_t* to = out + first * b.columns;
        dotSums(tile, b, start.data(), to, b.columns);
        correctRows(tile, b, to, b.columns);
        if (perRow)
            correctLeftZeros(b, aZero.subspan(static_cast<size_t>(first)), a.isSigned ? 128 : 0, tile.rows, to);
    });
}

void CodeProduct::sums(Codes a, int64_t rows, std::span<const int32_t> aZero, std::byte* scratch, int32_t* out) const
{
    if (m_dots)
        return dotRowSums(a, rows, aZero, scratch, out);
    forEachWidened(a, rows, aZero, scratch, [&](const int16_t* wide, int64_t first, int64_t count) {
        multiply(wide, count, m_pairs, out + first * m_pairs.columns, m_pairs.columns);
    });
}

void CodeProduct::codes(
    Codes a, int64_t rows, int32_t aZero, const Requantization& q, std::byte* scratch, uint8_t* out) const
{
    const int64_t n = columns();
    if (m_dots && m_dots->zeros.empty() && staysInRange(q.multiplier)) {
        DotEpilogue epilogue { dotStart(*m_dots, unsignedZero(aZero, a.isSigned), q.bias), {}, q.zeroPoint, q.low < 0 };
        epilogue.multiplier.assign(epilogue.start.size(), 0);
        for (int64_t c = 0; c < n; ++c)
            epilogue.multiplier[static_cast<size_t>(c)] = q.multiplier[q.multiplier.size() == 1 ? 0 : size_t(c)];
        return forEachTile(a, rows, scratch,
            [&](const DotRows& tile, int64_t first) { dotCodes(tile, *m_dots, epilogue, out + first * n, n); });
    }
    const int32_t zero[] { aZero };
    if (!m_dots)
        return forEachWidened(a, rows, zero, scratch, [&](const int16_t* wide, int64_t first, int64_t count) {
            multiplyToCodes(wide, count, m_pairs, q, out + first * n, n);
        });
    auto* block = reinterpret_cast<int32_t*>(scratch);
    std::byte* rest = scratch + roundUp(std::min(kBlockRows, std::max<int64_t>(rows, 1)) * n * 4);
    for (int64_t first = 0; first < rows; first += kBlockRows) {
        const int64_t count = std::min(kBlockRows, rows - first);
        sums(a.from(first * depth()), count, zero, rest, block);
        requantize(block, count, n, q, out + first * n);
    }
}

} // namespace qs
