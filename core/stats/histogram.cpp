// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/stats/histogram.h"

#include "core/kernels/statistics/bins.h"

#include <algorithm>
#include <cmath>

namespace qs {

static_assert(Histogram::kMaxBins == kMostBins);

namespace {

constexpr int kZeroExponent = -30; ///< bin width when every value is zero
constexpr int kFloatDigits = 23; ///< stored bits of a float's mantissa
constexpr int kSmallestExponent = -149; ///< spacing of the smallest floats

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

bool canBeAdded(const std::vector<uint64_t>& counts)
{
    uint64_t total = 0;
    return std::ranges::all_of(counts, [&](uint64_t count) { return (total += count) >= count; });
}

} // namespace

void Histogram::rebin(int exponent, int64_t first, int64_t last)
{
    // Zero alone has a width of its own, which may be the wider one; it stays in bin 0 at any width.
    const int shift = std::clamp(exponent - m_exponent, 0, 63);
    m_counts = m_counts.rebinned(m_first, shift, first, static_cast<size_t>(last - first + 1));
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

void Histogram::add(std::span<const float> values, float low, float high)
{
    if (values.empty())
        return;
    extendTo(low + 0.0f, high + 0.0f); // -0 becomes 0: equal data, equal state
    m_counts.add(values, m_exponent, static_cast<int32_t>(m_first));
}

void Histogram::add(std::span<const float> values)
{
    const FloatExtremes e = floatExtremes(values);
    if (e.nonFinite == 0)
        return add(values, e.low, e.high);
    m_nonFinite += e.nonFinite;
    if (e.nonFinite == values.size())
        return;
    extendTo(e.low + 0.0f, e.high + 0.0f);
    const double inverse = std::ldexp(1.0, -m_exponent);
    for (const float value : values)
        if (std::isfinite(value))
            m_counts.add(static_cast<size_t>(binOf(value, inverse) - m_first), 1);
}

void Histogram::add(float value) { add(value, 1); }

void Histogram::add(float value, uint64_t times)
{
    if (times == 0)
        return;
    if (!std::isfinite(value)) {
        m_nonFinite += times;
        return;
    }
    extendTo(value + 0.0f, value + 0.0f);
    m_counts.add(static_cast<size_t>(binOf(value, std::ldexp(1.0, -m_exponent)) - m_first), times);
}

void Histogram::merge(const Histogram& other)
{
    m_nonFinite += other.m_nonFinite;
    if (other.m_counts.empty())
        return;
    Histogram copy = other;
    extendTo(other.m_min, other.m_max);
    copy.extendTo(m_min, m_max);
    m_counts.add(copy.m_counts);
}

double Histogram::binWidth() const { return std::ldexp(1.0, m_exponent); }

double Histogram::low() const { return static_cast<double>(m_first) * binWidth(); }

double Histogram::high() const
{
    return static_cast<double>(m_first + static_cast<int64_t>(m_counts.size())) * binWidth();
}

void Histogram::write(ByteWriter& out) const
{
    out.number<int32_t>(m_exponent);
    out.number(m_first);
    out.number(m_min);
    out.number(m_max);
    out.number(m_nonFinite);
    out.numbers(m_counts.toVector());
}

Histogram Histogram::read(ByteReader& in)
{
    Histogram h;
    h.m_exponent = in.number<int32_t>();
    h.m_first = in.number<int64_t>();
    h.m_min = in.number<float>();
    h.m_max = in.number<float>();
    h.m_nonFinite = in.number<uint64_t>();
    const auto counts = in.numbers<uint64_t>();
    if (counts.empty())
        return h;
    const bool sane = std::isfinite(h.m_min) && std::isfinite(h.m_max) && h.m_min <= h.m_max && canBeAdded(counts);
    const Bins bins = sane ? binsFor(h.m_min, h.m_max) : Bins {};
    // The bins follow from the extremes alone.
    if (!sane || bins.exponent != h.m_exponent || bins.first != h.m_first
        || bins.last - bins.first + 1 != static_cast<int64_t>(counts.size())) {
        in.fail();
        return {};
    }
    h.m_counts = BinCounts(counts);
    return h;
}

} // namespace qs
