// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/text/sensitivity_report.h"

#include "core/report/format.h"
#include "core/report/json_number.h"
#include "core/report/text/text_table.h"

namespace qs {

namespace {

using Json = nlohmann::ordered_json;
using Align = TextTable::Align;

constexpr size_t kUnitWidth = 40;
constexpr size_t kShownUnits = 20;

std::string decibel(const OutputScore& score) { return text::decibel(score.sqnrDb(), score.exact()); }

/// The exclusions grow; what is new is enough to read, where each holds the one before.
std::string excludedText(const Exclusion& exclusion, bool verbose)
{
    if (exclusion.excluded.empty())
        return "(none)";
    std::string names;
    constexpr size_t kNamed = 3;
    for (size_t i = 0; i < exclusion.excluded.size() && (verbose || i < kNamed); ++i)
        names += (i ? ", " : "") + exclusion.excluded[i];
    if (!verbose && exclusion.excluded.size() > kNamed)
        names += ", ...";
    return names;
}

} // namespace

std::string sensitivityJson(const SensitivityReport& report, const ReportInfo& info)
{
    const Sensitivity& s = report.sensitivity;
    const std::string kind(unitKindName(s.by));
    Json json = { { "schema_version", 1 }, { "float", report.snapshot.inputs.floatPath }, { "recipe", report.recipe },
        { "samples", s.samples }, { "arithmetic", profileName(report.snapshot.inputs.profile) }, { "by", kind },
        { "output_sqnr_db", jsonNumber(s.quantized.sqnrDb()) }, { "accuracy", jsonNumber(s.quantized.accuracy()) } };
    Json units = Json::array();
    for (const UnitSensitivity& unit : s.units)
        units.push_back({ { "name", unit.name }, { "kind", kind }, { "op_type", unit.opType },
            { "output_sqnr_alone_db", jsonNumber(unit.alone.sqnrDb()) },
            { "output_sqnr_without_db", jsonNumber(unit.without.sqnrDb()) },
            { "mac_share", jsonNumber(unit.macShare) } });
    Json pareto = Json::array();
    for (const Exclusion& e : byNumber(s.pareto))
        pareto.push_back({ { "excluded", e.excluded }, { "int8_mac_share", jsonNumber(e.quantizedMacShare) },
            { "output_sqnr_db", jsonNumber(e.score.sqnrDb()) }, { "accuracy", jsonNumber(e.score.accuracy()) } });
    json["units"] = std::move(units);
    json["pareto"] = std::move(pareto);
    json["warnings"] = report.snapshot.warnings;
    json["time_ms"] = { { "load", report.snapshot.timing.loadMs }, { "measure", s.unitsMs + s.exclusionsMs },
        { "units", s.unitsMs }, { "exclusions", s.exclusionsMs } };
    json["peak_memory_bytes"] = info.peakMemoryBytes;
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string sensitivityTable(const SensitivityReport& report, const ReportInfo& info)
{
    const Sensitivity& s = report.sensitivity;
    std::string out = text::fileName(report.snapshot.inputs.floatPath) + " by recipe " + report.recipe + ": "
        + text::counted(s.samples, "sample") + ", " + std::string(profileName(report.snapshot.inputs.profile))
        + ", all quantized: " + text::decibelUnit(s.quantized.sqnrDb(), s.quantized.exact())
        + (s.quantized.accuracy() ? ", accuracy " + text::percent(s.quantized.accuracy()) : "") + "\n\n";
    const size_t shown = info.verbose ? s.units.size() : std::min(s.units.size(), kShownUnits);
    out += text::counted(s.units.size(), std::string(unitKindName(s.by))) + ", what leaving it in float buys most first"
        + (shown < s.units.size() ? " (" + text::count(shown) + " shown; --verbose shows all)" : "") + "\n";
    TextTable units({ { std::string(unitKindName(s.by)), Align::Left, info.verbose ? 0 : kUnitWidth },
        { s.by == UnitKind::Tensor ? "role" : "op", Align::Left, 24 }, { "alone dB" }, { "without dB" },
        { "MAC share" } });
    for (size_t i = 0; i < shown; ++i) {
        const UnitSensitivity& unit = s.units[i];
        units.add({ unit.name, unit.opType, decibel(unit.alone), decibel(unit.without), text::percent(unit.macShare) });
    }
    out += units.text("  ");
    out += "\nleft in float, more and more\n";
    TextTable pareto({ { "left out" }, { "SQNR dB" }, { "accuracy" }, { "quantized MACs" },
        { "which", Align::Left, info.verbose ? 0 : 2 * kUnitWidth } });
    for (const Exclusion& e : byNumber(s.pareto))
        pareto.add({ text::count(e.excluded.size()), decibel(e.score), text::percent(e.score.accuracy()),
            text::percent(e.quantizedMacShare), excludedText(e, info.verbose) });
    out += pareto.text("  ");
    out += "\nSQNR of the outputs: alone = only this is quantized, without = all but this\n";
    out += "load and calibrate " + text::milliseconds(report.snapshot.timing.loadMs) + ", units "
        + text::milliseconds(s.unitsMs) + ", exclusions " + text::milliseconds(s.exclusionsMs) + ", peak memory "
        + text::bytes(info.peakMemoryBytes) + "\n";
    return out;
}

} // namespace qs
