// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/stats/histogram.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

namespace qs {

namespace {

constexpr int kZeroExponent = -30; ///< bin width when every value is zero
constexpr int kFloatDigits = 23; ///< stored bits of a float's mantissa
constexpr int kSmallestExponent = -149; ///< spacing of the smallest floats
constexpr size_t kManyValues = 8192; ///< from here on several counting tables pay

/// floor(value / 2^exponent), given 2^-exponent; exact, and below 2^31 in magnitude for the exponents in use.
inline int32_t binOf(float value, double inverseWidth)
{
    const double scaled = double(value) * inverseWidth;
    const auto truncated = static_cast<int32_t>(scaled);
    return truncated - static_cast<int32_t>(scaled < truncated);
}

struct Bins {
    int exponent;
    int64_t first;
    int64_t last;
};

/// The bins for data between low and high; widens only as the two move apart, so it may be reached in any order.
Bins binsFor(float low, float high)
{
    const float magnitude = std::max(std::fabs(low), std::fabs(high));
    if (magnitude == 0)
        return { kZeroExponent, 0, 0 };
    int exponent = std::max(std::ilogb(magnitude) - kFloatDigits, kSmallestExponent);
    for (;; ++exponent) {
        const double inverse = std::ldexp(1.0, -exponent);
        const int64_t first = binOf(low, inverse);
        const int64_t last = binOf(high, inverse);
        if (last - first < Histogram::kMaxBins)
            return { exponent, first, last };
    }
}

struct Extremes {
    float low = 0;
    float high = 0;
    size_t nonFinite = 0;
    bool any = false;
};

/// Works on the float's bits in an order that integers compare, so that the loop vectorizes.
Extremes extremesOf(std::span<const float> values)
{
    constexpr int32_t kInfinity = 0x7f800000;
    int32_t low = std::numeric_limits<int32_t>::max();
    int32_t high = std::numeric_limits<int32_t>::min();
    uint64_t nonFinite = 0;
    constexpr size_t kChunk = size_t(1) << 20; // the inner count stays in 32 bits
    for (size_t begin = 0; begin < values.size(); begin += kChunk) {
        const size_t end = std::min(values.size(), begin + kChunk);
        uint32_t bad = 0;
        for (size_t i = begin; i < end; ++i) {
            int32_t bits;
            std::memcpy(&bits, &values[i], sizeof bits);
            const int32_t key = bits ^ static_cast<int32_t>(static_cast<uint32_t>(bits >> 31) >> 1);
            const bool isBad = (bits & 0x7fffffff) >= kInfinity;
            const int32_t lowKey = isBad ? std::numeric_limits<int32_t>::max() : key;
            const int32_t highKey = isBad ? std::numeric_limits<int32_t>::min() : key;
            low = lowKey < low ? lowKey : low;
            high = highKey > high ? highKey : high;
            bad += isBad;
        }
        nonFinite += bad;
    }
    const auto toFloat = [](int32_t key) {
        return std::bit_cast<float>(key ^ static_cast<int32_t>(static_cast<uint32_t>(key >> 31) >> 1));
    };
    Extremes e { 0, 0, static_cast<size_t>(nonFinite), nonFinite < values.size() };
    if (e.any) {
        e.low = toFloat(low) + 0.0f; // -0 becomes 0: equal data, equal state
        e.high = toFloat(high) + 0.0f;
    }
    return e;
}

} // namespace

void Histogram::rebin(int exponent, int64_t first, int64_t last)
{
    std::vector<uint64_t> counts(static_cast<size_t>(last - first + 1), 0);
    // Zero alone has a width of its own, which may be the wider one; it stays in bin 0 at any width.
    const int shift = std::max(exponent - m_exponent, 0);
    for (size_t i = 0; i < m_counts.size(); ++i)
        if (m_counts[i] != 0) {
            const int64_t bin = (m_first + static_cast<int64_t>(i)) >> std::min(shift, 63);
            counts[static_cast<size_t>(bin - first)] += m_counts[i];
        }
    m_counts = std::move(counts);
    m_exponent = exponent;
    m_first = first;
}

void Histogram::extendTo(float low, float high)
{
    if (!m_counts.empty()) {
        if (low >= m_min && high <= m_max)
            return;
        low = std::min(low, m_min);
        high = std::max(high, m_max);
    }
    const Bins bins = binsFor(low, high);
    rebin(bins.exponent, bins.first, bins.last);
    m_min = low;
    m_max = high;
}

void Histogram::add(std::span<const float> values)
{
    const Extremes e = extremesOf(values);
    m_nonFinite += e.nonFinite;
    if (!e.any)
        return;
    extendTo(e.low, e.high);
    if (values.size() >= kManyValues && e.nonFinite == 0)
        countMany(values);
    else
        countFew(values);
}

void Histogram::countFew(std::span<const float> values)
{
    const double inverse = std::ldexp(1.0, -m_exponent);
    for (const float v : values)
        if (std::isfinite(v))
            ++m_counts[static_cast<size_t>(binOf(v, inverse) - m_first)];
}

/// Bins are computed in blocks (vectorizes) and counted in turns in four tables, so that runs of equal values do not
/// wait for each other.
void Histogram::countMany(std::span<const float> values)
{
    constexpr size_t kBlock = 1024;
    constexpr size_t kFlush = size_t(1) << 31; // 32-bit counters
    std::array<int32_t, kBlock> bins;
    std::array<std::array<uint32_t, kMaxBins>, 4> tables;
    const double inverse = std::ldexp(1.0, -m_exponent);
    const auto first = static_cast<int32_t>(m_first);
    for (size_t start = 0; start < values.size(); start += kFlush) {
        const auto part = values.subspan(start, std::min(kFlush, values.size() - start));
        for (auto& table : tables)
            table.fill(0);
        for (size_t begin = 0; begin < part.size(); begin += kBlock) {
            const size_t n = std::min(kBlock, part.size() - begin);
            for (size_t i = 0; i < n; ++i)
                bins[i] = binOf(part[begin + i], inverse) - first;
            for (size_t i = 0; i < n; ++i)
                ++tables[i & 3][static_cast<size_t>(bins[i])];
        }
        for (size_t i = 0; i < m_counts.size(); ++i)
            m_counts[i] += uint64_t(tables[0][i]) + tables[1][i] + tables[2][i] + tables[3][i];
    }
}

void Histogram::add(float value) { add(std::span<const float>(&value, 1)); }

void Histogram::merge(const Histogram& other)
{
    m_nonFinite += other.m_nonFinite;
    if (other.m_counts.empty())
        return;
    Histogram copy = other;
    extendTo(other.m_min, other.m_max);
    copy.extendTo(m_min, m_max);
    for (size_t i = 0; i < m_counts.size(); ++i)
        m_counts[i] += copy.m_counts[i];
}

double Histogram::binWidth() const { return std::ldexp(1.0, m_exponent); }

double Histogram::low() const { return static_cast<double>(m_first) * binWidth(); }

double Histogram::high() const
{
    return static_cast<double>(m_first + static_cast<int64_t>(m_counts.size())) * binWidth();
}

uint64_t Histogram::total() const { return std::accumulate(m_counts.begin(), m_counts.end(), uint64_t(0)); }

} // namespace qs
