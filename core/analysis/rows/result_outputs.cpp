// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/rows/result_outputs.h"

#include <algorithm>
#include <limits>

namespace qs {

namespace {

constexpr double kNone = std::numeric_limits<double>::max(), kExact = std::numeric_limits<double>::infinity();

} // namespace

std::vector<const OutputRow*> resultOutputs(const std::vector<OutputRow>& outputs)
{
    const bool some = std::ranges::any_of(outputs, [](const OutputRow& row) { return !row.handedOn; });
    std::vector<const OutputRow*> results;
    for (const OutputRow& row : outputs)
        if (!some || !row.handedOn)
            results.push_back(&row);
    return results;
}

const OutputRow* worstOutput(const std::vector<OutputRow>& outputs)
{
    const auto quality
        = [](const OutputRow* row) { return row->similarity.exact ? kExact : row->similarity.sqnrDb.value_or(kNone); };
    const std::vector<const OutputRow*> results = resultOutputs(outputs);
    const auto worst = std::ranges::min_element(results, {}, quality);
    return worst == results.end() ? nullptr : *worst;
}

} // namespace qs
