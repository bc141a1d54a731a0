// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/calibrate/percentile_tails.h"

#include <cmath>

namespace qs {

namespace {

constexpr double kMostKept = 32768; ///< 256 KB a tail
constexpr double kMargin = 1.25; ///< of the values expected
constexpr double kLeastKept = 64;

/// Counts this near to a share of all are not told from it by the cumulated sum, which is rounded at each bin.
double tolerance(double total) { return 1e-12 * total + 1e-9; }

} // namespace

PercentileTails::PercentileTails(const PercentileCut& cut, double expected)
{
    const double oneSide = (100.0 - cut.percentile) / 200.0;
    m_upper = cut.magnitudes ? cut.percentile / 100.0 : 1.0 - oneSide;
    m_lower = oneSide;
    const double keep = std::ceil(expected * kMargin * (1 - m_upper)) + kLeastKept;
    if (!(keep <= kMostKept))
        return;
    m_tails.emplace_back(cut.magnitudes ? ValueSide::Magnitude : ValueSide::Upper, static_cast<size_t>(keep));
    if (!cut.magnitudes)
        m_tails.emplace_back(ValueSide::Lower, static_cast<size_t>(keep));
}

void PercentileTails::add(std::span<const float> values)
{
    m_count += values.size();
    for (LargestValues& tail : m_tails)
        tail.add(values);
}

/// Left edge of the first bin up to whose end there are so many values.
std::optional<float> PercentileTails::upperEnd(std::span<const float> edges) const
{
    const LargestValues& tail = m_tails.front();
    const auto total = static_cast<double>(m_count);
    const double needed = m_upper * total, near = tolerance(total);
    if (total - needed <= near || static_cast<double>(tail.keep()) <= total - needed + near)
        return std::nullopt;
    size_t bin = edges.size() - 2;
    for (; bin > 0 && edges[bin] > tail.floor(); --bin) {
        const double below = total - static_cast<double>(tail.countFrom(edges[bin]));
        if (std::fabs(below - needed) <= near)
            return std::nullopt;
        if (below < needed)
            break;
    }
    return edges[bin];
}

std::optional<float> PercentileTails::lowerEnd(std::span<const float> edges) const
{
    const LargestValues& tail = m_tails.back();
    const auto total = static_cast<double>(m_count);
    const double needed = m_lower * total, near = tolerance(total);
    if (needed <= near || static_cast<double>(tail.keep()) <= needed + near)
        return std::nullopt;
    size_t bin = 0;
    for (; bin + 2 < edges.size() && -edges[bin + 1] >= tail.floor(); ++bin) {
        const auto below = static_cast<double>(tail.countAbove(-edges[bin + 1]));
        if (std::fabs(below - needed) <= near)
            return std::nullopt;
        if (below > needed)
            break;
    }
    return edges[bin];
}

std::optional<Interval> PercentileTails::interval(std::span<const float> edges) const
{
    if (tooLong() || m_count == 0)
        return std::nullopt;
    const auto upper = upperEnd(edges);
    if (!upper)
        return std::nullopt;
    if (m_tails.size() == 1)
        return Interval { -*upper, *upper };
    const auto lower = lowerEnd(edges);
    return lower ? std::optional(Interval { *lower, *upper }) : std::nullopt;
}

} // namespace qs
