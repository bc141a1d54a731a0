// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/agent/tools/agent_resources.h"

#include "core/agent/tools/report_text.h"
#include "core/base/text/one_line.h"
#include "core/quant/recipe/recipe_json.h"
#include "core/quant/recipe/recipe_options.h"

#include <algorithm>

namespace qs {

namespace {

constexpr size_t kLongestResource = size_t(8) << 20;
const std::string kScheme = "quantscope://", kOptions = kScheme + "recipe-options", kReport = "/report.",
                  kRecipe = "/recipe.json";

std::string kindText(const SettingType& type)
{
    switch (type.kind) {
    case SettingKind::Switch:
        return "true or false";
    case SettingKind::Whole:
        return "whole number";
    case SettingKind::Real:
        return "number";
    case SettingKind::Text:
        return "text";
    case SettingKind::Texts:
        return "list of texts";
    case SettingKind::WholeByName:
    case SettingKind::RealByName:
        return "object of numbers by name";
    case SettingKind::Choice:
        break;
    }
    std::string list;
    for (const std::string_view name : type.names)
        list += (list.empty() ? "" : " | ") + std::string(name);
    return list;
}

/// Path, kind and help of each, a line each.
std::string optionsText()
{
    std::string text = "path: values: what it is\n";
    for (const RecipeOption& option : recipeOptions()) {
        if (!option.value.get)
            continue;
        const std::string_view help = option.flag.help.empty() ? option.line.toolTip : option.flag.help;
        text += std::string(option.path) + ": " + kindText(option.value.type);
        if (option.limits)
            text += ", " + limitsText(*option.limits);
        text += (help.empty() ? "" : ": ") + std::string(help) + "\n";
    }
    return text;
}

Issue unknown(const std::string& uri)
{
    return badUse("there is no resource '" + oneLine(uri, 120) + "'", "resources/list says which there are");
}

} // namespace

std::vector<AgentResource> agentResources(const AgentDesk& desk)
{
    std::vector<AgentResource> all { { kOptions, "recipe-options", "all fields of a recipe", "text/plain" } };
    for (const auto& [name, session] : desk.sessions()) {
        all.push_back({ kScheme + name + kRecipe, name + " recipe", "recipe of the present step", "application/json" });
        for (const ReportForm& form : kReportForms)
            if (session->comparison())
                all.push_back({ kScheme + name + kReport + std::string(form.name), name + " " + std::string(form.name),
                    "report of the last comparison: " + std::string(form.help), std::string(form.mimeType) });
    }
    return all;
}

Result<ResourceText> readResource(AgentDesk& desk, const std::string& uri, const WorkContext& work)
{
    if (uri == kOptions)
        return ResourceText { "text/plain", optionsText() };
    const std::vector<AgentResource> all = agentResources(desk);
    const auto known = std::ranges::find(all, uri, &AgentResource::uri);
    if (known == all.end())
        return unknown(uri);
    const std::string rest = uri.substr(kScheme.size());
    const std::string name = rest.substr(0, rest.find('/'));
    QS_TRY(AgentSession* const session, desk.session(name, work));
    ResourceText found { known->mimeType, {} };
    if (rest == name + kRecipe) {
        QS_TRY(const Recipe recipe, session->recipe(work));
        found.text = recipeToJson(recipe);
    } else {
        QS_TRY(found.text, reportText(*session->comparison(), rest.substr(name.size() + kReport.size()), work));
    }
    if (found.text.size() > kLongestResource)
        return badInput("the resource '" + uri + "' has " + std::to_string(found.text.size()) + " bytes, which is too "
                + "much for an answer",
            {}, "call export, which writes it to a file");
    return found;
}

} // namespace qs
