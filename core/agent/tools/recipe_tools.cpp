// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/agent/tools/answer_parts.h"

#include "core/base/files/json_text.h"
#include "core/base/text/one_line.h"
#include "core/project/quantize/prepared_model.h"
#include "core/quant/recipe/recipe_diff.h"
#include "core/quant/recipe/recipe_json.h"

#include <algorithm>

namespace qs {

namespace {

constexpr size_t kMostChanges = 30, kMostSteps = 20, kLongestValue = 160, kLongestRecipe = 8192, kLongestName = 200;

AgentJson changesJson(const std::vector<RecipeChange>& changes)
{
    AgentJson list = AgentJson::array();
    for (size_t i = 0; i < std::min(changes.size(), kMostChanges); ++i)
        list.push_back({ { "field", changes[i].field }, { "before", oneLine(changes[i].before, kLongestValue) },
            { "after", oneLine(changes[i].after, kLongestValue) } });
    return list;
}

AgentJson recipeJson(const Recipe& recipe)
{
    const auto read = readJson(recipeToJson(recipe));
    return read.ok() ? *read : AgentJson::object();
}

/// Fields that are long become what they count.
AgentJson shortRecipe(const Recipe& recipe)
{
    AgentJson json = recipeJson(recipe);
    if (json.dump().size() <= kLongestRecipe)
        return json;
    for (auto& [key, value] : json.items())
        if (value.is_structured() && value.dump().size() > kLongestRecipe / 8)
            value = std::to_string(value.size()) + " entries: read the resource recipe.json";
    return json;
}

AgentJson historyJson(const AgentSession& session)
{
    const size_t first = session.step() > kMostSteps / 2 ? session.step() - kMostSteps / 2 : 0;
    AgentJson list = AgentJson::array();
    for (size_t i = first; i < std::min(first + kMostSteps, session.steps()); ++i)
        list.push_back({ { "step", i }, { "text", session.stepText(i) } });
    return list;
}

void addSteps(AgentJson& json, const AgentSession& session)
{
    json["undo_steps"] = session.step();
    json["redo_steps"] = session.steps() - 1 - session.step();
}

Issue recipeIssue(const Issue& issue)
{
    return badUse("the recipe " + issue.what, issue.remedy.empty() ? "correct it" : issue.remedy);
}

/// What a finding says; the comparison has to be of the present step.
Result<Recipe> withFinding(AgentSession& session, Recipe recipe, size_t index, std::string& text)
{
    const SnapshotPtr& listed = session.listed ? session.listed : session.comparison();
    if (!listed || !(listed->inputs.asked() == session.present().asked()))
        return badUse("the findings are those of another step", "call findings, which compares again");
    const Snapshot& snapshot = *listed;
    const std::vector<Finding>& findings = snapshot.comparison->findings;
    if (index >= findings.size())
        return badUse("there is no finding " + std::to_string(index),
            findings.empty() ? "there are none" : "give an index from 0 to " + std::to_string(findings.size() - 1));
    const std::vector<Remedy> changes = changesOf(findings[index]);
    const bool none = std::ranges::all_of(changes, [](const Remedy& r) { return r.kind == RemedyKind::None; });
    if (none || !snapshot.floatModel->draft)
        return badUse(
            "no change of a recipe mends finding " + std::to_string(index) + " (" + findings[index].title + ")",
            findings[index].remedy);
    text = std::string(remedyKindName(changes.front().kind)) + ": " + findings[index].title;
    return withRemedies(std::move(recipe), changes, *snapshot.floatModel->draft);
}

/// "exclude ["/head/Conv"]; per_channel false"
std::string textOf(const AgentJson& changes)
{
    std::string text;
    for (const auto& [field, value] : changes.items())
        text += (text.empty() ? "" : "; ") + field + " " + value.dump();
    return oneLine(text, kLongestName);
}

Result<Recipe> begun(AgentSession& session, const ToolArguments& a, std::string& text, const WorkContext& work)
{
    const std::string reset = a.text("reset");
    if (reset.empty())
        return session.recipe(work);
    text = "begin anew from " + reset;
    return reset == "quantscope" ? quantscopeRecipe() : Recipe {};
}

Result<Recipe> edited(AgentSession& session, const ToolArguments& a, std::string& text, const WorkContext& work)
{
    if (a.has("reset") && a.has("apply_finding"))
        return badUse("reset and apply_finding are two edits", "make one after the other");
    QS_TRY(Recipe recipe, begun(session, a, text, work));
    if (a.has("apply_finding")) {
        QS_TRY(recipe, withFinding(session, std::move(recipe), size_t(a.whole("apply_finding", 0)), text));
    }
    if (!a.has("changes"))
        return recipe;
    AgentJson json = recipeJson(recipe);
    json.merge_patch(a.object("changes"));
    auto made = recipeOf(json);
    if (!made.ok())
        return recipeIssue(made.issue());
    text += (text.empty() ? "" : "; ") + textOf(a.object("changes"));
    return made;
}

/// What is left in float or is of its own by name is there: said at once, not when the edit is compared.
Status checkNewNames(const AgentSession& session, const Recipe& before, const Recipe& after)
{
    const bool same
        = after.exclude == before.exclude && after.include == before.include && after.tensors == before.tensors;
    const SnapshotPtr& models = session.models();
    if (same || !models || !models->floatFile)
        return {};
    QuantizeInputs inputs;
    inputs.model = models->floatFile->model;
    inputs.recipe = after;
    return checkNames(inputs);
}

Result<AgentJson> editRecipe(AgentDesk& desk, const ToolArguments& a, const WorkContext& work)
{
    QS_TRY(AgentSession* const session, desk.session(a.text("session"), work));
    QS_TRY(const Recipe before, session->recipe(work));
    if (!a.has("changes") && !a.has("apply_finding") && !a.has("reset")) {
        AgentJson json = headerOf(desk, *session);
        json["recipe"] = shortRecipe(before);
        json["history"] = historyJson(*session);
        addSteps(json, *session);
        return json;
    }
    std::string text;
    QS_TRY(Recipe after, edited(*session, a, text, work));
    QS_CHECK(checkCodesFile(desk.folders(), after, session->present().floatPath));
    const std::vector<RecipeChange> changes = recipeDiff(before, after);
    const bool asks = a.has("apply_finding") || a.has("reset") || !a.object("changes").empty();
    if (changes.empty() && !(asks && session->isFile())) // a file quantized anew is an edit by itself
        return badUse("the recipe says that already, so nothing was changed", "give other changes");
    if (a.has("changes"))
        QS_CHECK(checkNewNames(*session, before, after));
    QS_CHECK(session->edit(oneLine(a.text("text", text), kLongestName), before, std::move(after), work));
    AgentJson json = headerOf(desk, *session);
    json["changed"] = changesJson(changes);
    if (changes.size() > kMostChanges)
        json["changed_total"] = changes.size();
    addSteps(json, *session);
    json["next"] = "compare";
    return json;
}

Result<AgentJson> undo(AgentDesk& desk, const ToolArguments& a, const WorkContext& work)
{
    QS_TRY(AgentSession* const session, desk.session(a.text("session"), work));
    const size_t steps = size_t(a.whole("steps", 1));
    QS_CHECK(a.truth("redo") ? session->redo(steps, work) : session->undo(steps, work));
    AgentJson json = headerOf(desk, *session);
    addSteps(json, *session);
    json["next"] = "compare";
    return json;
}

} // namespace

std::vector<AgentTool> recipeTools()
{
    using enum ArgumentKind;
    AgentTool editing { .name = "edit_recipe",
        .title = "Edit the recipe",
        .help
        = "Changes how the float model is quantized, as one step that undo takes back. Without any change it shows "
          "the recipe and the history. Where a quantized file is open, the first edit begins with the recipe that "
          "can be read out of it. Nothing is run until compare.",
        .onlyReads = false,
        .call = editRecipe };
    editing.arguments = { sessionArgument(),
        { .name = "changes",
            .kind = Object,
            .help = "fields of the recipe as a merge patch, null takes a field back to ONNX Runtime's default: "
                    "{\"activation_type\": \"uint8\", \"calibration\": {\"method\": \"percentile\"}, \"exclude\": "
                    "[\"/head/*\"]}; the resource quantscope://recipe-options lists all" },
        { .name = "apply_finding", .kind = Whole, .help = "do what the finding with this index says" },
        { .name = "reset", .help = "begin anew from this preset", .words = { "quantscope", "onnxruntime" } },
        { .name = "text", .help = "what the step is called in the history" } };
    AgentTool back { .name = "undo",
        .title = "Undo or redo edits",
        .help = "Takes back the last edits of the recipe, or with redo does them again.",
        .onlyReads = false,
        .call = undo };
    back.arguments = { sessionArgument(),
        { .name = "steps", .kind = Whole, .help = "so many", .least = 1, .most = 1000, .otherwise = 1 },
        { .name = "redo", .kind = Truth, .help = "the other way" } };
    return { editing, back };
}

} // namespace qs
