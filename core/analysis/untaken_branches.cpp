// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/untaken_branches.h"

#include "core/analysis/rules/findings.h"

#include <algorithm>
#include <iterator>

namespace qs {

namespace {

/// Of rows that stand behind `before` others, in a comparison of nothing else.
std::vector<Finding> findingsOf(const ComparePair& pair, const Comparison& branches, size_t before)
{
    std::vector<Finding> found;
    findBrokenScales(branches, found);
    if (!isChangedByRecipe(pair)) // which says itself that weights are other ones
        findWeightsDiffer(pair, branches, found);
    for (Finding& f : found)
        if (f.weight)
            f.summary += " No sample takes " + branches.weights[*f.weight].untaken + ", where it is.";
    foldFindings(found);
    for (Finding& f : found) {
        if (f.weight)
            *f.weight += before;
        for (FindingPlace& place : f.places)
            if (place.weight)
                *place.weight += before;
    }
    return found;
}

} // namespace

std::vector<WeightRow> takeUntaken(std::vector<WeightRow>& rows)
{
    const auto first = std::ranges::stable_partition(rows, [](const WeightRow& row) { return row.untaken.empty(); });
    std::vector<WeightRow> untaken(std::move_iterator(first.begin()), std::move_iterator(first.end()));
    rows.erase(first.begin(), first.end());
    return untaken;
}

void addUntaken(const ComparePair& pair, std::vector<WeightRow> untaken, Comparison& c)
{
    if (untaken.empty())
        return;
    Comparison branches;
    branches.weights = std::move(untaken);
    for (Finding& f : findingsOf(pair, branches, c.weights.size())) {
        const auto behind
            = std::ranges::find_if(c.findings, [&](const Finding& other) { return other.severity > f.severity; });
        c.findings.insert(behind, std::move(f));
    }
    std::ranges::move(branches.weights, std::back_inserter(c.weights));
}

} // namespace qs
