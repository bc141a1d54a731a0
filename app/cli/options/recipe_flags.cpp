// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/options/recipe_flags.h"

#include "app/cli/options/options.h"

#include <algorithm>

namespace qs::cli {

namespace {

/// Of which it takes one.
std::vector<std::string> wordsFor(const RecipeOption& option)
{
    const auto& names = option.flag.words.empty() ? option.value.type.names : option.flag.words;
    return { names.begin(), names.end() };
}

std::string dashed(const RecipeOption& option) { return "--" + std::string(option.flag.name); }

template <class T> CLI::Option* addValue(CLI::App& app, const RecipeOption& option, GivenFlags& given)
{
    return app.add_option_function<T>(
        dashed(option),
        [&given, path = option.path](const T& value) {
            if constexpr (std::is_same_v<T, std::string>)
                if (value.empty()) // as scripts with empty variables say nothing
                    return;
            given[path] = value;
        },
        std::string(option.flag.help));
}

void addSwitch(CLI::App& app, const RecipeOption& option, GivenFlags& given)
{
    const auto set = [&](bool on) { return [&given, path = option.path, on] { given[path] = on; }; };
    app.add_flag_callback(dashed(option), set(true), std::string(option.flag.help));
    app.add_flag_callback("--no-" + std::string(option.flag.name), set(false), "the opposite of " + dashed(option));
}

void addFlag(CLI::App& app, const RecipeOption& option, GivenFlags& given)
{
    switch (option.value.type.kind) {
    case SettingKind::Switch:
        if (option.flag.words.empty())
            return addSwitch(app, option, given);
        [[fallthrough]];
    case SettingKind::Choice:
        takesWords(addValue<std::string>(app, option, given), wordsFor(option));
        break;
    case SettingKind::Whole:
        addValue<int64_t>(app, option, given);
        break;
    case SettingKind::Real:
        addValue<double>(app, option, given);
        break;
    case SettingKind::Texts:
        addValue<std::vector<std::string>>(app, option, given)->allow_extra_args(false);
        break;
    case SettingKind::Text:
    case SettingKind::WholeByName:
    case SettingKind::RealByName:
        break; // only files say them
    }
}

Result<RecipeValue> named(const RecipeOption& option, const std::string& text)
{
    const std::vector<std::string> names = wordsFor(option);
    const auto found = std::ranges::find(names, text);
    if (found == names.end())
        return badUse(dashed(option) + " '" + text + "' is not known", "use " + listed(names, " or "));
    return option.flag.words.empty() ? RecipeValue(text) : RecipeValue(found != names.begin());
}

Status checkNumber(const RecipeOption& option, const RecipeValue& value)
{
    if (!option.limits)
        return {};
    Limits limits = *option.limits;
    if (option.flag.most)
        limits.most = static_cast<double>(*option.flag.most);
    if (within(limits, value))
        return {};
    const auto* whole = std::get_if<int64_t>(&value);
    return badUse(dashed(option) + " "
            + (whole && !option.flag.most ? std::to_string(*whole) + " is not possible" : limitsText(limits)),
        std::string(option.flag.remedy));
}

/// The option's own form of what was given.
Result<RecipeValue> checked(const RecipeOption& option, const RecipeValue& given)
{
    if (const auto* text = std::get_if<std::string>(&given))
        return named(option, *text);
    if (const auto* texts = std::get_if<std::vector<std::string>>(&given); texts && option.flag.byComma)
        return RecipeValue(commaList(*texts));
    QS_CHECK(checkNumber(option, given));
    return given;
}

Status checkFormat(const GivenFlags& given, RecipeFormat format)
{
    std::vector<std::string> flags;
    bool any = false;
    for (const RecipeOption* option : recipeFlags())
        if (option->path.starts_with("weight_only.")) {
            flags.push_back(dashed(*option));
            any = any || given.contains(option->path);
        }
    if (any && format != RecipeFormat::WeightOnly)
        return badUse(listed(flags, " and ") + " belong to weights in blocks", "add --format weight-only");
    return {};
}

} // namespace

void addRecipeFlags(CLI::App& app, FlagValues values, GivenFlags& given)
{
    for (const RecipeOption* option : recipeFlags())
        if ((option->value.type.kind == SettingKind::Texts) == (values == FlagValues::List))
            addFlag(app, *option, given);
}

Status applyRecipeFlags(const GivenFlags& given, Recipe& recipe)
{
    const RecipeFormat before = recipe.format;
    for (const RecipeOption* option : recipeFlags()) {
        const auto it = given.find(option->path);
        if (it == given.end())
            continue;
        QS_TRY(const RecipeValue value, checked(*option, it->second));
        option->value.set(recipe, value);
    }
    if (recipe.format != before && recipe.format == RecipeFormat::WeightOnly && !given.contains("weight_type"))
        recipe.weightType = DType::UInt4;
    return checkFormat(given, recipe.format);
}

std::vector<std::string> idleFlags(const GivenFlags& given, const Recipe& recipe)
{
    std::vector<std::string> list;
    for (const RecipeOption* option : recipeFlags()) {
        if (!option->flag.idle || !given.contains(option->path))
            continue;
        if (const std::string_view why = option->flag.idle(recipe); !why.empty())
            list.push_back(dashed(*option) + " has no effect: " + std::string(why));
    }
    return list;
}

std::vector<std::string> commaList(const std::vector<std::string>& texts)
{
    std::vector<std::string> parts;
    for (const std::string& text : texts)
        for (size_t begin = 0; begin <= text.size();) {
            const size_t end = std::min(text.find(',', begin), text.size());
            if (end > begin)
                parts.push_back(text.substr(begin, end - begin));
            begin = end + 1;
        }
    return parts;
}

std::string listed(const std::vector<std::string>& names, const std::string& last)
{
    std::string text;
    for (size_t i = 0; i < names.size(); ++i)
        text += (i == 0 ? "" : i + 1 == names.size() ? last : ", ") + names[i];
    return text;
}

} // namespace qs::cli
