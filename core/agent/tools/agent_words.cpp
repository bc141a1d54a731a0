// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/agent/tools/agent_tool.h"

#include "core/quant/recipe/recipe_options.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace qs {

namespace {

/// Sentences on options of a command that are tools of their own here.
constexpr std::pair<std::string_view, std::string_view> kPhrases[] {
    { "leave out --decode and --blame, or give a language model", "open a language model" },
    { "leave out --decode free", "leave out free" },
};

bool isArgument(std::string_view name)
{
    return std::ranges::any_of(agentTools(), [&](const AgentTool& tool) {
        return std::ranges::find(tool.arguments, name, &ToolArgument::name) != tool.arguments.end();
    });
}

/// "shapes" of "shape", "calibration.method" of "method", "per_channel false" of "no-per-channel"; "" where there is
/// none.
std::string wordOf(const std::string& option)
{
    std::string word = option;
    std::ranges::replace(word, '-', '_');
    for (const std::string& name : { word, word + "s" })
        if (isArgument(name))
            return name;
    for (const RecipeOption* flag : recipeFlags())
        if (flag->flag.name == option)
            return std::string(flag->path);
        else if (option == "no-" + std::string(flag->flag.name))
            return std::string(flag->path) + " false";
    return {};
}

/// {"x": [1, 3, 8, 8]} of x=1x3x8x8; what is nothing of the kind stays.
std::string sizesOf(const std::string& given)
{
    const size_t equals = given.rfind('=');
    const std::string sizes = equals == std::string::npos ? "" : given.substr(equals + 1);
    if (sizes.empty() || sizes.find_first_not_of("0123456789x") != std::string::npos)
        return given;
    std::string list;
    for (const char c : sizes)
        list += c == 'x' ? std::string(", ") : std::string(1, c);
    return "{" + AgentJson(given.substr(0, equals)).dump() + ": [" + list + "]}";
}

} // namespace

std::string inAgentWords(const std::string& given)
{
    std::string text = given, said;
    for (const auto& [phrase, own] : kPhrases)
        if (const size_t at = text.find(phrase); at != std::string::npos)
            text.replace(at, phrase.size(), own);
    const auto isOfName = [&](size_t i) {
        return i < text.size() && (std::isalnum(static_cast<unsigned char>(text[i])) || text[i] == '-');
    };
    for (size_t i = 0; i < text.size();) {
        const bool begins = text.compare(i, 2, "--") == 0 && (i == 0 || !isOfName(i - 1)) && i + 2 < text.size()
            && std::isalpha(static_cast<unsigned char>(text[i + 2]));
        if (!begins) {
            said += text[i++];
            continue;
        }
        size_t end = i + 2;
        while (isOfName(end))
            ++end;
        const std::string option = text.substr(i + 2, end - i - 2), word = wordOf(option);
        said += word.empty() ? "--" + option : word;
        i = end;
        if (option == "shape" && i < text.size()) {
            said += " " + sizesOf(text.substr(i + 1));
            i = text.size();
        }
    }
    return said;
}

} // namespace qs
