// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/calibrate/range_growth.h"

#include <algorithm>

namespace qs {

RangeCurve::RangeCurve(size_t samples)
    : m_shares(samples)
    , m_settled(samples)
{
}

void RangeCurve::add(const std::vector<std::pair<double, double>>& extremes)
{
    double low = 0, high = 0;
    std::vector<double> widths;
    for (const auto& [lowest, highest] : extremes) {
        low = std::min(low, lowest);
        high = std::max(high, highest);
        widths.push_back(high - low);
    }
    if (widths.size() != m_shares.size() || widths.empty() || !(widths.back() > 0))
        return;
    ++m_tensors;
    for (size_t n = 0; n < widths.size(); ++n) {
        m_shares[n] += widths[n] / widths.back();
        m_settled[n] += widths[n] >= kSettledShare * widths.back();
    }
}

std::vector<RangeGrowth> RangeCurve::steps() const
{
    std::vector<RangeGrowth> steps;
    if (m_tensors == 0)
        return steps;
    const auto add = [&](size_t n) {
        steps.push_back({ n, m_shares[n - 1] / double(m_tensors), double(m_settled[n - 1]) / double(m_tensors) });
    };
    for (size_t n = 1; n < m_shares.size(); n *= 2)
        add(n);
    add(m_shares.size());
    return steps;
}

double RangeCurve::meanShare(size_t samples) const
{
    return m_tensors > 0 && samples > 0 ? m_shares[samples - 1] / double(m_tensors) : 0;
}

size_t RangeCurve::settledAfter() const
{
    for (size_t n = 0; m_tensors > 0 && n < m_shares.size(); ++n)
        if (m_shares[n] >= kSettledShare * double(m_tensors))
            return n + 1;
    return 0;
}

} // namespace qs
