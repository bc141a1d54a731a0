// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/text/price_report.h"

#include "core/report/format.h"
#include "core/report/json_number.h"
#include "core/report/text/text_table.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace qs {

namespace {

using Json = nlohmann::ordered_json;
using Align = TextTable::Align;

constexpr size_t kWeightNodeWidth = 40, kLayerWidth = 24;
constexpr size_t kShownWeights = 20;
constexpr size_t kChangesNamed = 3; ///< of weights that a point changes

/// What both kinds of loss are called, and their numbers as text.
class LossText {
public:
    explicit LossText(PriceLoss by)
        : m_kl(by == PriceLoss::Divergence)
    {
    }
    std::string title() const { return m_kl ? "KL" : "SQNR dB"; }
    std::string key() const { return m_kl ? "kl_mean" : "output_sqnr_db"; }
    std::string text(const OutputScore& score) const
    {
        return m_kl ? text::number(score.klMean()) : text::decibel(score.sqnrDb(), score.exact());
    }
    std::string sentence(const OutputScore& score) const
    {
        return m_kl ? "KL " + text(score) : text::decibelUnit(score.sqnrDb(), score.exact());
    }

private:
    bool m_kl;
};

/// By what the first bits more take away of the loss for a byte, alone; last where neither loss can be told.
std::vector<size_t> byWorth(const WeightPrices& prices)
{
    std::vector<size_t> order(prices.units.size());
    std::iota(order.begin(), order.end(), size_t(0));
    const auto worth = [&](size_t u) {
        const UnitPrice& unit = prices.units[u];
        const double cost = double(unit.bytes[1]) - double(unit.bytes[0]);
        const double gain = lossOf(unit.alone[0], prices.by) - lossOf(unit.alone[1], prices.by);
        return std::isnan(gain) ? -std::numeric_limits<double>::infinity() : gain / std::max(cost, 1.0);
    };
    std::ranges::stable_sort(order, [&](size_t a, size_t b) { return worth(a) > worth(b); });
    return order;
}

Json raisedJson(const WeightPrices& prices, const PricePoint& point)
{
    Json raised = Json::object();
    for (size_t store = 1; store < prices.ladder.size(); ++store) {
        Json names = Json::array();
        for (size_t u = 0; u < prices.units.size(); ++u)
            if (point.choice[u] == store)
                names.push_back(prices.units[u].unit.name);
        raised[weightStoreName(prices.ladder[store])] = std::move(names);
    }
    return raised;
}

Json pointJson(const WeightPrices& prices, const PricePoint& point)
{
    return { { "bytes", point.bytes }, { "kl_mean", jsonNumber(point.score.klMean()) },
        { "output_sqnr_db", jsonNumber(point.score.sqnrDb()) }, { "raised", raisedJson(prices, point) } };
}

Json unitsJson(const WeightPrices& prices)
{
    Json units = Json::array();
    for (const size_t u : byWorth(prices)) {
        const UnitPrice& unit = prices.units[u];
        Json types = Json::array();
        for (size_t store = 0; store < prices.ladder.size(); ++store)
            types.push_back({ { "type", weightStoreName(prices.ladder[store]) }, { "bytes", unit.bytes[store] },
                { "kl_mean", jsonNumber(unit.alone[store].klMean()) },
                { "output_sqnr_db", jsonNumber(unit.alone[store].sqnrDb()) } });
        units.push_back({ { "name", unit.unit.name }, { "op_type", unit.unit.opType }, { "weight", unit.unit.weight },
            { "nodes", unit.unit.nodes }, { "layer", unit.unit.layer }, { "types", std::move(types) } });
    }
    return units;
}

/// What is stored otherwise than in the point before.
std::string changeText(const WeightPrices& prices, const PricePoint* before, const PricePoint& point, bool verbose)
{
    const size_t first = point.choice.front();
    const bool all = std::ranges::all_of(point.choice, [&](size_t store) { return store == first; });
    if (all)
        return "all " + weightStoreName(prices.ladder[first]);
    std::vector<std::string> changes;
    for (size_t u = 0; u < point.choice.size(); ++u)
        if (before ? before->choice[u] != point.choice[u] : point.choice[u] > 0)
            changes.push_back(prices.units[u].unit.name + " " + weightStoreName(prices.ladder[point.choice[u]]));
    const size_t shown = verbose ? changes.size() : std::min(changes.size(), kChangesNamed);
    std::string text;
    for (size_t i = 0; i < shown; ++i)
        text += (i ? ", " : "") + changes[i];
    return text + (shown < changes.size() ? ", ..." : "");
}

std::string unitsTable(const WeightPrices& prices, bool verbose)
{
    const LossText loss(prices.by);
    const size_t shown = verbose ? prices.units.size() : std::min(prices.units.size(), kShownWeights);
    std::string out = text::counted(prices.units.size(), "weight") + ", those first that more bits serve best"
        + (shown < prices.units.size() ? " (" + text::count(shown) + " shown; --verbose shows all)" : "") + "\n";
    std::vector<TextTable::Column> columns { { "node", Align::Left, verbose ? 0 : kWeightNodeWidth },
        { "layer", Align::Left, verbose ? 0 : kLayerWidth } };
    for (const WeightStore& store : prices.ladder)
        columns.push_back({ "bytes " + weightStoreName(store) });
    for (size_t store = 0; store + 1 < prices.ladder.size(); ++store)
        columns.push_back({ loss.title() + " " + weightStoreName(prices.ladder[store]) });
    TextTable table(std::move(columns));
    const auto order = byWorth(prices);
    for (size_t i = 0; i < shown; ++i) {
        const UnitPrice& unit = prices.units[order[i]];
        std::vector<std::string> cells { unit.unit.name, unit.unit.layer.empty() ? "-" : unit.unit.layer };
        for (const uint64_t bytes : unit.bytes)
            cells.push_back(text::count(bytes));
        for (size_t store = 0; store + 1 < prices.ladder.size(); ++store)
            cells.push_back(loss.text(unit.alone[store]));
        table.add(std::move(cells));
    }
    return out + table.text("  ");
}

std::string paretoTable(const PriceReport& report, bool verbose)
{
    const WeightPrices& prices = report.prices;
    const LossText loss(prices.by);
    const bool kl = prices.by == PriceLoss::Divergence;
    std::vector<TextTable::Column> columns { { "" }, { "bytes" }, { loss.title() } };
    if (kl)
        columns.push_back({ "SQNR dB" });
    for (const WeightStore& store : prices.ladder)
        columns.push_back({ weightStoreName(store) });
    columns.push_back({ "what is other", Align::Left, verbose ? 0 : 2 * kWeightNodeWidth });
    TextTable table(std::move(columns));
    const PricePoint* before = nullptr;
    size_t left = 0;
    for (const PricePoint& point : prices.pareto) {
        const bool chosen = report.chosen && report.chosen->choice == point.choice;
        if (!verbose && !chosen && !point.step) {
            ++left;
            continue;
        }
        std::vector<std::string> cells { chosen ? "*" : "", text::count(point.bytes), loss.text(point.score) };
        if (kl)
            cells.push_back(text::decibel(point.score.sqnrDb(), point.score.exact()));
        for (size_t store = 0; store < prices.ladder.size(); ++store)
            cells.push_back(text::count(uint64_t(std::ranges::count(point.choice, store))));
        cells.push_back(changeText(prices, before, point, verbose));
        table.add(std::move(cells));
        before = &point;
    }
    const std::string more = left > 0 ? " (" + text::count(left) + " more that were tried; --verbose shows all)" : "";
    return "\nbytes of all constants against " + loss.title() + ", step by step" + more + "\n" + table.text("  ");
}

/// Why the list ends where it does, where more could be asked for.
std::string endText(const WeightPrices& prices)
{
    if (prices.stop == PriceStop::Steps)
        return "the search ended after " + text::counted(prices.steps, "step") + "; --steps allows more\n";
    if (prices.stop == PriceStop::Time)
        return "the search ended after " + text::counted(prices.steps, "step") + ", when its time was up\n";
    return {};
}

} // namespace

std::string priceJson(const PriceReport& report, const ReportInfo& info)
{
    const WeightPrices& prices = report.prices;
    Json types = Json::array(), references = Json::object(), pareto = Json::array();
    for (size_t store = 0; store < prices.ladder.size(); ++store) {
        types.push_back(weightStoreName(prices.ladder[store]));
        const PricePoint& point = prices.references[store];
        references[weightStoreName(prices.ladder[store])] = { { "bytes", point.bytes },
            { "kl_mean", jsonNumber(point.score.klMean()) }, { "output_sqnr_db", jsonNumber(point.score.sqnrDb()) } };
    }
    for (const PricePoint& point : prices.pareto)
        pareto.push_back(pointJson(prices, point));
    Json json = { { "schema_version", 1 }, { "float", report.snapshot.inputs.floatPath }, { "recipe", report.recipe },
        { "samples", prices.samples }, { "arithmetic", profileName(report.snapshot.inputs.profile) },
        { "price", "bytes" }, { "judged_by", LossText(prices.by).key() }, { "types", std::move(types) },
        { "units", unitsJson(prices) }, { "references", std::move(references) }, { "pareto", std::move(pareto) },
        { "steps", prices.steps }, { "ended", prices.stop ? Json(priceStopName(*prices.stop)) : Json(nullptr) },
        { "chosen", report.chosen ? pointJson(prices, *report.chosen) : Json(nullptr) } };
    if (!report.unsaid.empty())
        json["not_said"] = report.unsaid;
    std::vector<std::string> warnings = report.snapshot.warnings;
    warnings.insert(warnings.end(), report.warnings.begin(), report.warnings.end());
    json["warnings"] = std::move(warnings);
    json["time_ms"] = { { "load", report.snapshot.timing.loadMs }, { "measure", prices.unitsMs + prices.searchMs },
        { "units", prices.unitsMs }, { "steps", prices.searchMs } };
    json["peak_memory_bytes"] = info.peakMemoryBytes;
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string priceTable(const PriceReport& report, const ReportInfo& info)
{
    const WeightPrices& prices = report.prices;
    const LossText loss(prices.by);
    std::string out = text::fileName(report.snapshot.inputs.floatPath) + " by recipe " + report.recipe + ": "
        + text::counted(prices.samples, "sample") + ", " + std::string(profileName(report.snapshot.inputs.profile))
        + "\n";
    for (size_t store = 0; store < prices.ladder.size(); ++store)
        out += "  all " + weightStoreName(prices.ladder[store]) + ": " + text::count(prices.references[store].bytes)
            + " bytes, " + loss.sentence(prices.references[store].score) + "\n";
    out += "\n" + unitsTable(prices, info.verbose) + paretoTable(report, info.verbose) + endText(prices);
    if (report.chosen)
        out += "\nchosen: " + text::count(report.chosen->bytes) + " bytes, " + loss.sentence(report.chosen->score)
            + "\n";
    if (!report.unsaid.empty())
        out += "builder options do not say all: " + report.unsaid + "\n";
    out += prices.by == PriceLoss::Divergence
        ? "\nKL: of the guessed tokens' distribution from the float model's, mean over positions; a weight's own with "
          "this weight alone in codes\n"
        : "\nSQNR of the outputs; a weight's own with this weight alone in codes\n";
    out += "load and quantize " + text::milliseconds(report.snapshot.timing.loadMs) + ", weights "
        + text::milliseconds(prices.unitsMs) + ", " + text::counted(prices.steps, "step") + " "
        + text::milliseconds(prices.searchMs) + ", peak memory " + text::bytes(info.peakMemoryBytes) + "\n";
    return out;
}

} // namespace qs
