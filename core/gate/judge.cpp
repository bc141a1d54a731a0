// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/gate/judge.h"

#include "core/analysis/rules/findings.h"
#include "core/base/name_pattern.h"
#include "core/base/text/nearest_names.h"
#include "core/base/text/one_line.h"
#include "core/gate/losses.h"
#include "core/gate/number_text.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>

namespace qs {

namespace {

constexpr double kPoints = 100; ///< of a share
constexpr double kRounding = 1e-9; ///< points: 0.97 - 0.96 is not quite 0.01
constexpr size_t kNameLength = 400;

std::string shortName(const std::string& name) { return oneLine(name, kNameLength); }

/// `what`: "output", "tensor".
GateCheck sqnrCheck(GateRule rule, std::string_view what, const std::string& name, const Similarity& s, double limit,
    const std::string& by)
{
    GateCheck check { rule, GateVerdict::Missed, shortName(name), fmt::format("at least {} dB", limit),
        measuredSqnr(s, limit), {}, {} };
    const bool number = hasSqnr(s);
    const bool kept = s.exact || (number && *s.sqnrDb >= limit);
    check.verdict = kept ? GateVerdict::Passed : GateVerdict::Missed;
    check.sentence = !kept && number
        ? fmt::format("{} {} has {}, below the {} dB asked for by {}", what, check.place, check.measured, limit, by)
        : fmt::format("{} {} has {}; at least {} dB are asked for by {}", what, check.place, check.measured, limit, by);
    return check;
}

Result<GateCheck> accuracyCheck(const Comparison& c, const OutputLimit& limit)
{
    if (!c.accuracy)
        return badInput(limit.by
                + " needs an accuracy, but the data have no labels, or the first output is not known to hold scores of "
                  "classes",
            {}, "add an integer array 'labels' with one class a sample, or say --task OUTPUT=classes");
    const double drop = (c.accuracy->floatAccuracy - c.accuracy->quantizedAccuracy) * kPoints;
    const bool kept = drop <= limit.value + kRounding;
    const std::string points = numberAgainst(drop, limit.value);
    return GateCheck { limit.rule, kept ? GateVerdict::Passed : GateVerdict::Missed, {},
        fmt::format("at most {} points", limit.value), points + " points",
        fmt::format("accuracy falls by {} points, from {:.4g} % to {:.4g} %, {} the {} allowed by {}", points,
            c.accuracy->floatAccuracy * kPoints, c.accuracy->quantizedAccuracy * kPoints,
            kept ? "not more than" : "more than", limit.value, limit.by),
        {} };
}

Status addTop1(const Comparison& c, const OutputLimit& limit, std::vector<GateCheck>& checks)
{
    bool any = false;
    for (const OutputRow& out : c.outputs) {
        if (!out.top1Agreement)
            continue;
        any = true;
        const double share = *out.top1Agreement;
        const bool kept = share >= limit.value; // false for what is no number
        const std::string measured = numberAgainst(share, limit.value), name = shortName(out.name);
        checks.push_back({ limit.rule, kept ? GateVerdict::Passed : GateVerdict::Missed, name,
            fmt::format("a share of at least {}", limit.value), measured,
            fmt::format("output {} has a top-1 agreement (share) of {}, {} the {} asked for by {}", name, measured,
                kept ? "not below" : "below", limit.value, limit.by),
            {} });
    }
    if (!any)
        return badInput(limit.by + " needs an output with several classes, but no output has a top-1 agreement", {},
            "say --task OUTPUT=classes, or ask for an SQNR instead");
    return {};
}

Status addOutputs(const Comparison& c, const Gates& gates, std::vector<GateCheck>& checks)
{
    for (const OutputLimit& limit : gates.outputs) {
        if (limit.rule == GateRule::OutputSqnr) {
            if (c.outputs.empty())
                return badInput(limit.by + " needs an output, but no outputs of the two files were paired", {},
                    "say which belong together with --map");
            for (const OutputRow& out : c.outputs)
                checks.push_back(sqnrCheck(limit.rule, "output", out.name, out.similarity, limit.value, limit.by));
        } else if (limit.rule == GateRule::AccuracyDrop) {
            QS_TRY(GateCheck check, accuracyCheck(c, limit));
            checks.push_back(std::move(check));
        } else {
            QS_CHECK(addTop1(c, limit, checks));
        }
    }
    return {};
}

/// Everything that a pattern of the gate file may name, by what it is.
struct NamedNumbers {
    std::vector<std::string> names, quantizedNames;
    std::vector<const Similarity*> numbers;
    std::vector<std::string_view> kinds;
    std::vector<bool> given; ///< graph inputs of which both files get the same values: nothing is measured there
    void add(const auto& row, const Similarity& s, std::string_view kind, bool isGiven = false)
    {
        given.push_back(isGiven);
        names.push_back(row.name);
        quantizedNames.push_back(row.quantizedName);
        numbers.push_back(&s);
        kinds.push_back(kind);
    }
};

bool isGiven(const Comparison& c, const ActivationRow& row)
{
    const bool quantizer = !row.params.scale.empty() || row.dynamic;
    return !quantizer && row.accumulated.exact && row.opType.empty()
        && std::ranges::find(c.inputs, row.name, &InputRow::name) != c.inputs.end();
}

NamedNumbers namedNumbers(const Comparison& c)
{
    NamedNumbers all;
    for (const ActivationRow& a : c.activations)
        all.add(a, a.accumulated, "tensor", isGiven(c, a));
    for (const WeightRow& w : c.weights)
        all.add(w, w.similarity, "weight");
    return all;
}

Issue nothingNamed(const TensorLimit& limit, const std::string& path, const std::vector<std::string>& names)
{
    const auto near = nearestNames(limit.pattern, names, 1);
    return badInput(fmt::format("line {}: no tensor that was compared is named '{}', so nothing would be checked",
                        limit.line, limit.pattern),
        path,
        near.empty() ? "`compare --json -` lists the names"
                     : fmt::format("did you mean '{}'?", shortName(near.front())));
}

Status addTensors(
    const TensorLimit& limit, const std::string& path, const NamedNumbers& all, std::vector<GateCheck>& checks)
{
    auto found = matchNames(limit.pattern, all.names);
    if (!found)
        found = matchNames(limit.pattern, all.quantizedNames);
    if (!found)
        return nothingNamed(limit, path, all.names);
    const std::string by = fmt::format("line {} of {}", limit.line, std::filesystem::path(path).filename().string());
    bool any = false;
    for (const size_t i : *found) {
        const Similarity& s = *all.numbers[i];
        GateCheck check = sqnrCheck(GateRule::TensorSqnr, all.kinds[i], all.names[i], s, limit.minSqnrDb, by);
        if (s.elements == 0 && s.nonFinite == 0 && !s.exact) { // integers that are no codes, caches without positions
            check.verdict = GateVerdict::NotJudged;
            check.measured = "no values that are compared";
            check.sentence
                = fmt::format("{} {} has no values that are compared; {} names it", all.kinds[i], check.place, by);
        } else if (all.given[i]) {
            check.verdict = GateVerdict::NotJudged;
            check.measured = "an input of both files";
            check.sentence = fmt::format(
                "{} {} is an input, whose values both files are given; {} names it", all.kinds[i], check.place, by);
        }
        any |= check.verdict != GateVerdict::NotJudged;
        checks.push_back(std::move(check));
    }
    if (any)
        return {};
    return badInput(fmt::format("line {}: no tensor that '{}' names has values that are compared (inputs without a "
                                "quantizer have none), so "
                                "nothing would be checked",
                        limit.line, limit.pattern),
        path, "name others");
}

/// Each finding; not judged without a limit.
void addFindings(const Comparison& c, const std::optional<FindingLimit>& limit, std::vector<GateCheck>& checks)
{
    const std::string wanted = !limit ? "" : limit->failOn == Severity::Error ? "no errors" : "no errors or warnings";
    for (size_t i = 0; i < c.findings.size(); ++i) {
        const Finding& f = c.findings[i];
        const bool ignored = limit && std::ranges::find(limit->ignored, f.rule) != limit->ignored.end();
        const bool ofCpu = f.cause == kOfThisCpu; // a gate says the same on all machines
        const GateVerdict verdict = !limit || ignored || ofCpu ? GateVerdict::NotJudged
            : f.severity <= limit->failOn                      ? GateVerdict::Missed
                                                               : GateVerdict::Passed;
        const std::string place = shortName(f.tensor.empty() ? f.node : f.tensor);
        const std::string measured = fmt::format("{} {}", severityName(f.severity), ruleId(f.rule));
        std::string sentence = fmt::format(
            "finding {}{}: {}", measured, place.empty() ? "" : " at " + place, oneLine(f.title, kNameLength));
        if (limit)
            sentence += ignored ? "; the gate file ignores this rule"
                : ofCpu         ? "; it is of this CPU alone, so it is judged with --arithmetic integer-avx2 only"
                                : "; fail_on asks for " + wanted;
        checks.push_back({ GateRule::FailOn, verdict, place, wanted, measured, sentence, i });
    }
    if (c.findings.empty())
        checks.push_back(
            { GateRule::FailOn, GateVerdict::Passed, {}, wanted, "no findings", "there are no findings", {} });
}

} // namespace

size_t Judgement::count(GateVerdict verdict) const
{
    return size_t(std::ranges::count(checks, verdict, &GateCheck::verdict));
}

Result<Judgement> judged(const Comparison& c, const Gates& gates)
{
    Judgement made;
    made.asked = gates.any();
    made.gateFile = gates.path;
    QS_CHECK(addOutputs(c, gates, made.checks));
    const NamedNumbers all = gates.tensors.empty() ? NamedNumbers() : namedNumbers(c);
    for (const TensorLimit& limit : gates.tensors)
        QS_CHECK(addTensors(limit, gates.path, all, made.checks));
    if (gates.findings || !made.asked)
        addFindings(c, gates.findings, made.checks);
    if (gates.baseline) {
        made.warnings = baselineDoubts(c, *gates.baseline);
        if (addLosses(c, *gates.baseline, made.checks) == 0)
            return badInput(
                "the baseline has no number that could be held against this comparison, so nothing would be "
                "checked",
                gates.baseline->path, "make it anew");
    }
    return made;
}

} // namespace qs
