// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/sensitivity/exclusion_front.h"

#include "core/analysis/sensitivity/sensitivity_units.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace qs {

namespace {

int64_t macsOf(const QuantizedUnits& all, const std::vector<size_t>& units)
{
    return std::accumulate(
        units.begin(), units.end(), int64_t(0), [&](int64_t sum, size_t unit) { return sum + all.units()[unit].macs; });
}

/// `rank`: place of each unit in the ranking.
Exclusion named(MeasuredExclusion measured, const QuantizedUnits& all, const std::vector<size_t>& rank)
{
    std::ranges::sort(measured.units, {}, [&](size_t unit) { return rank[unit]; });
    Exclusion result { {}, {}, measured.score };
    for (const size_t unit : measured.units)
        result.excluded.push_back(all.units()[unit].name);
    if (all.macsKnown())
        result.quantizedMacShare
            = all.totalMacs() > 0 ? double(all.unitMacs() - macsOf(all, measured.units)) / double(all.totalMacs()) : 0;
    return result;
}

} // namespace

std::vector<Exclusion> exclusionFront(
    std::vector<MeasuredExclusion> tried, const QuantizedUnits& units, const std::vector<size_t>& ranking)
{
    std::ranges::stable_sort(tried, {}, [&](const MeasuredExclusion& e) {
        return std::tuple(units.macsKnown() ? macsOf(units, e.units) : 0, e.units.size(), e.score.noise);
    });
    std::vector<size_t> rank(units.units().size(), 0);
    for (size_t i = 0; i < ranking.size(); ++i)
        rank[ranking[i]] = i;
    std::vector<Exclusion> front;
    for (MeasuredExclusion& e : tried)
        if (front.empty() || e.score.noise < front.back().score.noise)
            front.push_back(named(std::move(e), units, rank));
    return front;
}

std::vector<Exclusion> byNumber(const std::vector<Exclusion>& pareto)
{
    std::map<size_t, const Exclusion*> best;
    for (const Exclusion& e : pareto)
        if (const Exclusion*& known = best[e.excluded.size()]; !known || e.score.noise < known->score.noise)
            known = &e;
    std::vector<Exclusion> growing;
    for (const auto& [number, e] : best)
        if (growing.empty() || e->score.noise < growing.back().score.noise)
            growing.push_back(*e);
    return growing;
}

} // namespace qs
