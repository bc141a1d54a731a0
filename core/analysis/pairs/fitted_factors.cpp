// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/pairs/fitted_factors.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace qs {

namespace {

struct RatioRange {
    double low, high;
};

/// Where a range begins or ends.
struct RangeEnd {
    double at;
    int change; ///< of how many ranges there are
};

/// The middle of the part of `allowed` that lies in most of the ranges; of equal ones that which is nearest to 1. It is
/// 1 where that is less than half of them: these are other weights.
double inMostRanges(const std::vector<RatioRange>& ranges, RatioRange allowed)
{
    std::vector<RangeEnd> ends { { allowed.low, 0 }, { allowed.high, 0 } };
    for (const RatioRange& r : ranges)
        if (r.low < allowed.high && r.high > allowed.low) {
            ends.push_back({ std::max(r.low, allowed.low), 1 });
            ends.push_back({ std::min(r.high, allowed.high), -1 });
        }
    std::ranges::sort(ends, {}, &RangeEnd::at);
    int open = 0, most = 0;
    double best = 1;
    for (size_t i = 0; i + 1 < ends.size(); ++i) {
        open += ends[i].change;
        const double middle = (ends[i].at + ends[i + 1].at) / 2;
        const bool nearer = open == most && std::fabs(middle - 1) < std::fabs(best - 1);
        if (ends[i + 1].at > ends[i].at && (open > most || (open > 0 && nearer))) {
            most = open;
            best = middle;
        }
    }
    return 2 * size_t(most) >= ranges.size() ? best : 1;
}

} // namespace

std::vector<double> fittedRatios(const StoredWeight& weight, const ChannelStep& factor)
{
    std::vector<std::vector<RatioRange>> ranges(factor.values.size());
    for (size_t i = 0; i < weight.wanted.size(); ++i) {
        const double wanted = weight.wanted[i], half = std::fabs(double(weight.steps[i])) / 2;
        if (wanted == 0 || !std::isfinite(wanted))
            continue;
        double low = (weight.stored[i] - half) / wanted, high = (weight.stored[i] + half) / wanted;
        if (low > high)
            std::swap(low, high);
        ranges[weight.channels[i]].push_back({ low, high });
    }
    std::vector<double> ratios(factor.values.size(), 1);
    for (size_t c = 0; c < ratios.size(); ++c) {
        const double value = std::fabs(factor.values[c]), slack = std::fabs(factor.slack[c]);
        if (value > slack && slack > 0)
            ratios[c] = inMostRanges(ranges[c], { value / (value + slack), value / (value - slack) });
    }
    return ratios;
}

} // namespace qs
