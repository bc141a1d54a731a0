// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/price/weight_prices.h"

#include <algorithm>
#include <cmath>

namespace qs {

double lossOf(const OutputScore& score, PriceLoss by)
{
    const double loss = by == PriceLoss::Noise ? score.noise : score.klMean().value_or(NAN);
    return std::isnan(loss) ? std::numeric_limits<double>::infinity() : loss;
}

std::vector<PricePoint> priceFront(std::vector<PricePoint> points, PriceLoss by)
{
    std::ranges::stable_sort(points, [&](const PricePoint& a, const PricePoint& b) {
        return std::pair(a.bytes, lossOf(a.score, by)) < std::pair(b.bytes, lossOf(b.score, by));
    });
    std::vector<PricePoint> front;
    for (PricePoint& point : points)
        if (front.empty() || lossOf(point.score, by) < lossOf(front.back().score, by))
            front.push_back(std::move(point));
    return front;
}

namespace {

bool keepsBudget(const PricePoint& point, const PriceBudget& budget)
{
    if (budget.maxBytes)
        return point.bytes <= *budget.maxBytes;
    if (budget.maxKl)
        return lossOf(point.score, PriceLoss::Divergence) <= *budget.maxKl;
    const Number db = point.score.sqnrDb();
    return point.score.exact() || (db && *db >= *budget.minSqnrDb);
}

} // namespace

Result<PricePoint> chosenPoint(const WeightPrices& prices, const PriceBudget& budget)
{
    if (!budget.given())
        return badUse("no limit says which point of the list is meant", "give a limit of bytes or of the loss");
    const auto& points = prices.pareto; // by bytes, the loss falls
    const auto fits = [&](const PricePoint& point) { return keepsBudget(point, budget); };
    if (budget.maxBytes) {
        const auto last = std::ranges::find_if(points.rbegin(), points.rend(), fits);
        if (last != points.rend())
            return *last;
        return badInput("no choice of weights fits " + std::to_string(*budget.maxBytes) + " bytes: the smallest has "
                + std::to_string(points.front().bytes),
            {}, "allow as many bytes, or give a larger block size");
    }
    const auto first = std::ranges::find_if(points, fits);
    if (first != points.end())
        return *first;
    return badInput("no choice of weights keeps the limit, not even all of them in float", {}, "allow a larger loss");
}

} // namespace qs
