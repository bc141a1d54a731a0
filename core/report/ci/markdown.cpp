// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/findings/finding_groups.h"
#include "core/report/ci/ci_reports.h"
#include "core/report/ci/ci_text.h"
#include "core/report/format.h"
#include "core/report/remedy_text.h"
#include "core/report/task_text.h"
#include "core/report/text/language_text.h"

#include <algorithm>
#include <fmt/format.h>

namespace qs {

namespace {

using ci::markdown;
using ci::markdownCode;

/// A summary page takes a megabyte.
constexpr size_t kShownMissed = 50, kShownOthers = 10, kShownOutputs = 20, kShownTensors = 10, kListedFindings = 15;

std::string more(size_t all, size_t shown)
{
    return all > shown ? fmt::format("\n… and {} more.\n", text::count(all - shown)) : std::string();
}

std::string verdictText(const Judgement& j, const Comparison& c)
{
    if (!j.asked)
        return fmt::format("## Quantscope: {}, no gates\n\n",
            c.findings.empty() ? "no findings" : text::counted(c.findings.size(), "finding"));
    const size_t missed = j.count(GateVerdict::Missed), ignored = j.count(GateVerdict::NotJudged);
    const std::string all = text::counted(j.checks.size(), "check");
    return fmt::format("## Quantscope: {}{}\n\n",
        missed > 0 ? fmt::format("❌ {} of {} missed", text::count(missed), all) : "✅ no gate missed, " + all,
        ignored > 0 ? fmt::format(", {} not judged", text::count(ignored)) : std::string());
}

std::string_view sign(GateVerdict verdict)
{
    return verdict == GateVerdict::Missed ? "❌" : verdict == GateVerdict::Passed ? "✅" : "➖";
}

/// The checks with this verdict.
std::string gateRows(const Judgement& j, GateVerdict verdict, size_t most)
{
    std::string rows;
    size_t all = 0;
    for (const GateCheck& check : j.checks) {
        if (check.verdict != verdict || all++ >= most)
            continue;
        const GateRuleInfo& rule = gateRuleInfo(check.rule);
        rows += fmt::format("| {} {} | {} {} | {} | {} | {} |\n", sign(verdict), nameIn(kVerdicts, verdict),
            nameIn(kGateSuites, rule.suite), markdownCode(rule.key),
            check.place.empty() ? "the model" : markdownCode(check.place), markdown(check.wanted),
            markdown(check.measured));
    }
    if (all > most)
        rows += fmt::format(
            "| {} {} | … and {} more | | | |\n", sign(verdict), nameIn(kVerdicts, verdict), text::count(all - most));
    return rows;
}

/// What was missed first.
std::string gatesTable(const Judgement& j)
{
    if (!j.asked)
        return {};
    return "### Gates\n\n| | gate | where | wanted | measured |\n|---|---|---|---|---|\n"
        + gateRows(j, GateVerdict::Missed, kShownMissed) + gateRows(j, GateVerdict::NotJudged, kShownOthers)
        + gateRows(j, GateVerdict::Passed, kShownOthers) + "\n";
}

std::string outputsTable(const Comparison& c)
{
    std::string table = "### Outputs\n\n| output | SQNR | RMSE | top-1 agreement |\n|---|--:|--:|--:|\n";
    const size_t shown = std::min(c.outputs.size(), kShownOutputs);
    for (size_t i = 0; i < shown; ++i) {
        const OutputRow& o = c.outputs[i];
        table += fmt::format("| {} | {} | {} | {} |\n", markdownCode(o.name),
            text::decibelUnit(o.similarity.sqnrDb, o.similarity.exact), text::number(o.similarity.rmse),
            text::percent(o.top1Agreement));
    }
    table += more(c.outputs.size(), shown);
    for (const OutputRow& o : c.outputs)
        if (o.language)
            table += fmt::format("\n{}: {}.\n", markdownCode(o.name), markdown(text::languageSentence(*o.language)));
    if (c.accuracy)
        table += fmt::format("\nAccuracy ({}): float {}, quantized {}.\n", text::counted(c.accuracy->labels, "label"),
            text::percent(c.accuracy->floatAccuracy), text::percent(c.accuracy->quantizedAccuracy));
    return table + "\n";
}

std::string tensorsTable(const Comparison& c)
{
    if (c.activations.empty())
        return {};
    const std::vector<size_t> order = text::worstFirst(c.activations);
    const size_t shown = std::min(order.size(), kShownTensors);
    std::string table = fmt::format("### Worst tensors ({} of {})\n\n", shown, text::count(order.size()));
    table += "| tensor | operator | SQNR | own quantizer | clipped |\n|---|---|--:|--:|--:|\n";
    for (size_t i = 0; i < shown; ++i) {
        const ActivationRow& a = c.activations[order[i]];
        table += fmt::format("| {} | {} | {} | {} | {} |\n", markdownCode(a.name),
            a.opType.empty() ? "input" : markdown(a.opType),
            text::decibelUnit(a.accumulated.sqnrDb, a.accumulated.exact),
            text::decibelUnit(a.localSqnrDb, a.localExact), text::percent(a.clippedFraction));
    }
    return table + "\n";
}

std::string findingsList(const Snapshot& s)
{
    const Comparison& c = *s.comparison;
    if (c.findings.empty())
        return "### Findings\n\nNone.\n";
    const std::vector<FindingGroup> groups = findingGroups(c.findings);
    const size_t shown = std::min(groups.size(), kListedFindings);
    std::string list = "### Findings\n\n";
    for (size_t i = 0; i < shown; ++i) {
        const Finding& f = c.findings[groups[i].members.front()];
        const std::string& place = f.tensor.empty() ? f.node : f.tensor;
        list += fmt::format("- **{}** {}{}: {}", severityName(f.severity), markdownCode(ruleId(f.rule)),
            place.empty() ? std::string() : " at " + markdownCode(place), markdown(ci::findingText(f, c.accuracy)));
        const size_t others = groups[i].members.size() - 1;
        list += others > 0 ? fmt::format(" And {} more like it.\n", text::count(others)) : "\n";
    }
    list += more(groups.size(), shown);
    const std::string command = text::remedyCommandLine(s);
    return command.empty() ? list : list + "\n" + text::kRemedyCommandHead + " " + markdownCode(command) + "\n";
}

} // namespace

std::string compareMarkdown(const Snapshot& s, const Judgement& judgement)
{
    const Comparison& c = *s.comparison;
    return verdictText(judgement, c) + "Compared: " + markdown(ci::comparedText(s)) + ".\n\n" + gatesTable(judgement)
        + outputsTable(c) + tensorsTable(c) + findingsList(s);
}

} // namespace qs
