// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/text/saturation.h"

#include "core/report/format.h"
#include "core/report/text/text_table.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace qs {

namespace {

constexpr size_t kShown = 10;
constexpr size_t kNodeWidth = 44;

uint64_t total(const SaturationRow& r) { return r.saturatedPairs(); }

nlohmann::ordered_json pairJson(const SaturatedPair& p)
{
    if (p.lost() == 0)
        return nullptr;
    return { { "channel", p.column }, { "products", { 2 * p.index, 2 * p.index + 1 } },
        { "activation_codes", { p.a0, p.a1 } }, { "weight_codes", { p.w0, p.w1 } }, { "sum", p.sum() },
        { "kept", p.kept() } };
}

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
    return out + table.text("  ") + "  worst pair of codes: " + hit.front()->node + ", "
        + saturatedPairText(hit.front()->worst) + "\n";
}

std::string saturatedPairText(const SaturatedPair& p)
{
    return fmt::format("channel {}, products {} and {}: {} · {} + {} · {} = {}, of which {} is kept", p.column,
        2 * p.index, 2 * p.index + 1, p.a0, p.w0, p.a1, p.w1, p.sum(), p.kept());
}

nlohmann::ordered_json saturationJson(const std::vector<SaturationRow>& rows)
{
    auto list = nlohmann::ordered_json::array();
    for (const SaturationRow& r : rows)
        list.push_back({ { "node", r.node }, { "op_type", r.opType }, { "pairs", r.pairs }, { "saturated", total(r) },
            { "channel_saturated", r.saturated }, { "worst_pair", pairJson(r.worst) } });
    return list;
}

} // namespace qs
