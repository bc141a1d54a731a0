// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/agent/tools/answer_parts.h"

#include "core/project/files/runs.h"
#include "core/report/json_number.h"

#include <algorithm>

namespace qs {

namespace {

constexpr int64_t kWorst = 5, kFindings = 5, kMostTried = 64;
constexpr size_t kOutputs = 16, kFlipped = 20, kFirstFindings = 3, kPlaces = 3;

AgentJson shortFinding(const AgentJson& finding, size_t index)
{
    AgentJson json { { "index", index } };
    json.update(picked(finding, { "rule", "severity", "node", "tensor", "title", "summary", "remedy" }));
    return json;
}

AgentJson wholeFinding(const AgentJson& finding, size_t index)
{
    AgentJson json { { "index", index } };
    json.update(finding);
    if (json["places"].size() == 1) // it says the same again
        json.erase("places");
    shorten(json, "places", kPlaces);
    shorten(json, "together_with", kPlaces);
    return json;
}

AgentJson activationSummary(const AgentJson& row)
{
    return picked(row,
        { "name", "node", "op_type", "dtype", "sqnr_db", "exact", "local_sqnr_db", "increase_db", "noise",
            "clipped_fraction", "range", "observed_range" });
}

/// What the comparison before this one found, to be held against it.
AgentJson numbersJson(const Snapshot& snapshot)
{
    const RunNumbers numbers = runNumbers(snapshot);
    return { { "output_sqnr_db", jsonNumber(numbers.outputSqnrDb) }, { "exact", numbers.exact },
        { "accuracy", jsonNumber(numbers.accuracy) }, { "top1_agreement", jsonNumber(numbers.top1Agreement) } };
}

AgentJson findingsSummary(const AgentJson& findings)
{
    AgentJson first = AgentJson::array();
    for (size_t i = 0; i < std::min(findings.size(), kFirstFindings); ++i)
        first.push_back(shortFinding(findings[i], i));
    return { { "total", findings.size() }, { "first", std::move(first) } };
}

Result<AgentJson> compare(AgentDesk& desk, const ToolArguments& a, const WorkContext& work)
{
    QS_TRY(AgentSession* const session, desk.session(a.text("session"), work));
    const SnapshotPtr before = session->comparison();
    QS_TRY(const SnapshotPtr snapshot, session->compared(work));
    session->listed = snapshot;
    const AgentJson& document = session->document();
    AgentJson json = headerOf(desk, *session);
    json.update(picked(document, { "float", "quantized", "samples", "arithmetic", "outputs", "accuracy", "language" }));
    for (AgentJson& output : json["outputs"])
        output = picked(output,
            { "name", "quantized_name", "sqnr_db", "exact", "cosine", "rmse", "max_abs_error", "top1_agreement",
                "top5_agreement" });
    shorten(json, "outputs", kOutputs);
    if (json["accuracy"].is_object())
        shorten(json["accuracy"], "flipped", kFlipped);
    json["now"] = numbersJson(*snapshot);
    json["before"] = before && before != snapshot ? numbersJson(*before) : AgentJson(nullptr);
    json["findings"] = findingsSummary(document.at("findings"));
    json["worst_activations"] = windowOf(worstFirst(document.at("activations").get<std::vector<AgentJson>>()), "rows",
        a, kWorst, [](const AgentJson& row, size_t) { return activationSummary(row); });
    json["warnings"] = warningsJson(snapshot->warnings);
    return json;
}

Result<AgentJson> findings(AgentDesk& desk, const ToolArguments& a, const WorkContext& work)
{
    QS_TRY(AgentSession* const session, desk.session(a.text("session"), work));
    QS_TRY(session->listed, session->tried(size_t(a.whole("try_remedies", 0)), work));
    AgentJson all = AgentJson::array();
    const AgentJson& document = session->document();
    for (size_t i = 0; i < document.at("findings").size(); ++i) { // indices stay those of the whole list
        const AgentJson& finding = document.at("findings")[i];
        const bool asked = (!a.has("severity") || finding.at("severity") == a.text("severity"))
            && (!a.has("rule") || finding.at("rule") == a.text("rule"));
        if (asked)
            all.push_back(wholeFinding(finding, i));
    }
    AgentJson json = headerOf(desk, *session);
    json.update(windowOf(all, "findings", a, kFindings, [](const AgentJson& finding, size_t) { return finding; }));
    json["remedy_trials"] = document.at("remedy_trials");
    return json;
}

} // namespace

std::vector<AgentTool> compareTools()
{
    using enum ArgumentKind;
    AgentTool comparing { .name = "compare",
        .title = "Compare both models",
        .help
        = "Runs the float and the quantized model over the samples in lockstep and says what came of it: outputs, "
          "accuracy, the first findings, the worst tensors. After an edit only what it changed is run again; "
          "'before' holds the numbers of the comparison before.",
        .call = compare };
    comparing.arguments
        = { sessionArgument(), limitArgument(kWorst, "so many of the worst activations"), offsetArgument() };
    AgentTool causes { .name = "findings",
        .title = "What is wrong, and what to do",
        .help
        = "Causes that the comparison found, most severe first, with evidence in numbers and the remedy. "
          "edit_recipe with apply_finding = index does what 'change' says. Compares first where something changed.",
        .call = findings };
    causes.arguments = { sessionArgument(), limitArgument(kFindings, "so many findings"), offsetArgument(),
        { .name = "severity", .help = "only of this severity", .words = { "error", "warning", "note" } },
        { .name = "rule", .help = "only of this rule" },
        { .name = "try_remedies",
            .kind = Whole,
            .help = "make the first so many remedies and measure what each gains at the output; takes a run each",
            .least = 0,
            .most = kMostTried } };
    return { comparing, causes };
}

} // namespace qs
