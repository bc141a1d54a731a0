// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/agent/tools/answer_parts.h"

#include "core/base/files/json_text.h"
#include "core/project/search/sensitivity.h"
#include "core/project/snapshot/build_snapshot.h"
#include "core/report/text/sensitivity_report.h"

namespace qs {

namespace {

constexpr int64_t kUnits = 10;
constexpr size_t kExcluded = 20;

std::string questionOf(const ToolArguments& a)
{
    std::string question = a.text("by", "node") + (a.truth("units_only") ? "\n1" : "\n0");
    for (const std::string& unit : a.texts("units"))
        question += '\n' + unit;
    return question;
}

/// `sensitivity --json` of the present step, by the recipe that can be read out of the file where that is one.
Result<AgentJson> measure(AgentSession& session, const ToolArguments& a, const WorkContext& work)
{
    if (session.present().data.spec.empty())
        return badUse("sensitivity needs samples", "open the models again with data");
    QS_TRY(const Recipe recipe, session.recipe(work));
    Inputs inputs = byRecipe(session.present(), recipe);
    inputs.compare = false;
    const SnapshotPtr previous = session.comparison() ? session.comparison() : session.models();
    QS_TRY(const SnapshotPtr snapshot, buildSnapshot(inputs, previous, work.progress, work.cancel));
    const UnitKind by = unitKindOf(a.text("by", "node")).value_or(UnitKind::Node);
    QS_TRY(const Sensitivity found,
        sensitivityOf(*snapshot, by, a.texts("units"), work.progress, work.cancel, !a.truth("units_only")));
    QS_CHECK(unchanged(*snapshot));
    return readJson(sensitivityJson({ *snapshot, found, session.stepText(session.step()) }, {}));
}

Result<AgentJson> sensitivity(AgentDesk& desk, const ToolArguments& a, const WorkContext& work)
{
    QS_TRY(AgentSession* const session, desk.session(a.text("session"), work));
    const std::string question = questionOf(a);
    if (!session->measured || session->measured->question != question) {
        QS_TRY(AgentJson answer, measure(*session, a, work));
        session->measured = AgentSession::Measured { question, std::move(answer) };
    }
    const AgentJson& all = session->measured->answer;
    AgentJson json = headerOf(desk, *session);
    json.update(picked(all, { "by", "samples", "arithmetic", "output_sqnr_db", "accuracy" }));
    const auto unit = [](const AgentJson& row, size_t) {
        return picked(row, { "name", "op_type", "output_sqnr_alone_db", "output_sqnr_without_db", "mac_share" });
    };
    const auto exclusion = [](const AgentJson& row, size_t) {
        AgentJson shown = row;
        shown["excluded_count"] = row.at("excluded").size();
        shorten(shown, "excluded", kExcluded);
        return shown;
    };
    json["units"] = windowOf(all.at("units"), "rows", a, kUnits, unit);
    json["pareto"] = windowOf(all.at("pareto"), "rows", a, kUnits, exclusion);
    return json;
}

} // namespace

std::vector<AgentTool> sensitivityTools()
{
    using enum ArgumentKind;
    AgentTool tool { .name = "sensitivity",
        .title = "What each part costs",
        .help
        = "Quantizes each node, tensor or operator type alone and leaves each out, and says what that does to the "
          "outputs, what leaving it in float buys most first; 'pareto' lists what to exclude for how much. May take "
          "minutes; the answer is kept for more of it.",
        .call = sensitivity };
    tool.arguments = { sessionArgument(),
        { .name = "by", .help = "what a unit is (default node)", .words = { "node", "tensor", "type" } },
        { .name = "units", .kind = Texts, .help = "measure only these: names, globs or re:REGEX" },
        { .name = "units_only", .kind = Truth, .help = "leave out one unit at a time and no more: half the time" },
        limitArgument(kUnits, "so many units and exclusions"), offsetArgument() };
    return { tool };
}

} // namespace qs
