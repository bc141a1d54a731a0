// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/stats/bin_counts.h"

#include "core/kernels/statistics/bins.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <type_traits>

namespace qs {

namespace {

size_t sizeOf(const auto& cells)
{
    return std::visit([](const auto& counts) { return counts.size(); }, cells);
}

template <class Counts> using CellOf = typename std::remove_cvref_t<Counts>::value_type;

/// Bins of few values are empty nearly everywhere: eight bytes without a count are passed at once.
template <class From, class To>
void addRebinned(const std::vector<From>& from, int64_t first, int shift, int64_t newFirst, std::vector<To>& to)
{
    constexpr size_t kStep = sizeof(uint64_t) / sizeof(From);
    for (size_t begin = 0; begin < from.size(); begin += kStep) {
        const size_t end = std::min(begin + kStep, from.size());
        uint64_t bytes = 0;
        std::memcpy(&bytes, &from[begin], (end - begin) * sizeof(From));
        if (bytes == 0)
            continue;
        for (size_t i = begin; i < end; ++i) {
            if (from[i] == 0)
                continue;
            const auto place = static_cast<size_t>(((first + static_cast<int64_t>(i)) >> shift) - newFirst);
            to[place] = static_cast<To>(to[place] + from[i]);
        }
    }
}

} // namespace

BinCounts::BinCounts(const std::vector<uint64_t>& counts)
    : m_total(std::accumulate(counts.begin(), counts.end(), uint64_t(0)))
{
    Cells& cells = m_cells.edit() = cellsFor(m_total, counts.size());
    std::visit(
        [&](auto& to) {
            for (size_t i = 0; i < counts.size(); ++i)
                to[i] = static_cast<CellOf<decltype(to)>>(counts[i]);
        },
        cells);
}

BinCounts::Cells BinCounts::cellsFor(uint64_t total, size_t size)
{
    if (total <= std::numeric_limits<uint16_t>::max())
        return std::vector<uint16_t>(size);
    if (total <= std::numeric_limits<uint32_t>::max())
        return std::vector<uint32_t>(size);
    return std::vector<uint64_t>(size);
}

size_t BinCounts::size() const { return sizeOf(*m_cells); }

uint64_t BinCounts::operator[](size_t bin) const
{
    return std::visit([bin](const auto& counts) -> uint64_t { return counts[bin]; }, *m_cells);
}

std::vector<uint64_t> BinCounts::toVector() const
{
    return std::visit([](const auto& counts) { return std::vector<uint64_t>(counts.begin(), counts.end()); }, *m_cells);
}

size_t BinCounts::bytes() const
{
    return std::visit([](const auto& counts) { return counts.size() * sizeof(counts[0]); }, *m_cells);
}

BinCounts::Cells& BinCounts::roomFor(uint64_t more)
{
    m_total += more;
    Cells wide = cellsFor(m_total, 0);
    if (wide.index() == m_cells->index())
        return m_cells.edit();
    std::visit([](const auto& from, auto& to) { to.assign(from.begin(), from.end()); }, *m_cells, wide);
    m_cells = CopyOnWrite(std::move(wide));
    return m_cells.edit();
}

void BinCounts::add(size_t bin, uint64_t times)
{
    std::visit([&](auto& counts) { counts[bin] = static_cast<CellOf<decltype(counts)>>(counts[bin] + times); },
        roomFor(times));
}

void BinCounts::add(std::span<const float> values, int exponent, int32_t first)
{
    std::visit([&](auto& counts) { countBins(values, exponent, first, std::span(counts)); }, roomFor(values.size()));
}

void BinCounts::add(const BinCounts& other)
{
    std::visit(
        [](auto& to, const auto& from) {
            for (size_t i = 0; i < to.size(); ++i)
                to[i] = static_cast<CellOf<decltype(to)>>(to[i] + from[i]);
        },
        roomFor(other.m_total), *other.m_cells);
}

BinCounts BinCounts::rebinned(int64_t first, int shift, int64_t newFirst, size_t size) const
{
    BinCounts result;
    result.m_total = m_total;
    result.m_cells = CopyOnWrite(cellsFor(m_total, size));
    std::visit([&](const auto& from, auto& to) { addRebinned(from, first, shift, newFirst, to); }, *m_cells,
        result.m_cells.edit());
    return result;
}

} // namespace qs
