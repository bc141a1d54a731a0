// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/text/saturation.h"

#include "core/report/format.h"
#include "core/report/text/text_table.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

namespace qs {

namespace {

constexpr size_t kShown = 10;
constexpr size_t kNodeWidth = 44;

uint64_t total(const SaturationRow& r) { return std::accumulate(r.saturated.begin(), r.saturated.end(), uint64_t(0)); }

} // namespace

std::string saturationText(const std::vector<SaturationRow>& rows, bool verbose)
{
    std::vector<const SaturationRow*> hit;
    for (const SaturationRow& r : rows)
        if (total(r) > 0)
            hit.push_back(&r);
    std::ranges::stable_sort(hit, [](const auto* a, const auto* b) { return total(*a) > total(*b); });
    const std::string out = "\nsums that saturate in 16 bits: " + text::counted(hit.size(), "node") + " of "
        + std::to_string(rows.size()) + " whose kernel can\n";
    if (hit.empty())
        return out;
    using Align = TextTable::Align;
    TextTable table({ { "node", Align::Left, verbose ? 0 : kNodeWidth }, { "op", Align::Left, 24 }, { "pairs" },
        { "share" }, { "worst channel" }, { "its pairs" } });
    for (size_t i = 0; i < (verbose ? hit.size() : std::min(hit.size(), kShown)); ++i) {
        const SaturationRow& r = *hit[i];
        const auto worst = std::ranges::max_element(r.saturated);
        table.add({ r.node, r.opType, std::to_string(total(r)), text::percent(double(total(r)) / double(r.pairs)),
            std::to_string(worst - r.saturated.begin()), std::to_string(*worst) });
    }
    return out + table.text("  ");
}

nlohmann::ordered_json saturationJson(const std::vector<SaturationRow>& rows)
{
    auto list = nlohmann::ordered_json::array();
    for (const SaturationRow& r : rows)
        list.push_back({ { "node", r.node }, { "op_type", r.opType }, { "pairs", r.pairs }, { "saturated", total(r) },
            { "channel_saturated", r.saturated } });
    return list;
}

} // namespace qs
