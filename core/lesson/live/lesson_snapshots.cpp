// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/lesson/live/lesson_snapshots.h"

#include "core/base/files/json_text.h"
#include "core/base/text/one_line.h"
#include "core/quant/recipe/recipe_fields.h"
#include "core/quant/recipe/recipe_json.h"

#include <algorithm>
#include <array>

namespace qs {

namespace {

constexpr size_t kKept = 60;
constexpr JsonLimits kTypedLimits { 20'000, 2000, 12 };
constexpr const char* kTypedRemedy = "write changes as in: activation_type=uint8 calibration.method=percentile";

/// Parts of "a.b.c"; "a.'b.c'" has two.
std::vector<std::string> partsOf(const std::string& path)
{
    std::vector<std::string> parts(1);
    char quote = '\0';
    for (const char c : path) {
        if (quote != '\0' ? c == quote : c == '"' || c == '\'')
            quote = quote == '\0' ? c : '\0';
        else if (c == '.' && quote == '\0')
            parts.emplace_back();
        else
            parts.back() += c;
    }
    return parts;
}

/// Cuts at spaces outside of quotes.
std::vector<std::string> wordsOf(const std::string& text)
{
    std::vector<std::string> words(1);
    char quote = '\0';
    for (const char c : text) {
        if (c == '"' || c == '\'')
            quote = quote == '\0' ? c : quote == c ? '\0' : quote;
        if (quote == '\0' && (c == ' ' || c == '\t' || c == '\n'))
            words.emplace_back();
        else
            words.back() += c;
    }
    std::erase(words, "");
    return words;
}

bool isListOption(const std::string& path)
{
    static const LessonJson whole = fullJson({});
    const LessonJson* at = &whole;
    for (const std::string& part : partsOf(path)) {
        if (!at->is_object() || !at->contains(part))
            return false;
        at = &(*at)[part];
    }
    return at->is_array();
}

LessonJson typedValue(const std::string& path, const std::string& text)
{
    if (auto json = readJson(text, kTypedLimits); json.ok())
        return std::move(json).value();
    if (!isListOption(path))
        return text;
    LessonJson list = LessonJson::array();
    for (size_t from = 0; from <= text.size();) {
        const size_t comma = std::min(text.find(',', from), text.size());
        list.push_back(text.substr(from, comma - from));
        from = comma + 1;
    }
    return list;
}

/// Puts a value at a path, with objects on the way. Unlike a merge it keeps null, which takes a key away later.
void putAt(LessonJson& json, const std::vector<std::string>& parts, LessonJson value)
{
    LessonJson* at = &json;
    for (const std::string& part : parts) {
        if (!at->is_object())
            *at = LessonJson::object();
        at = &(*at)[part];
    }
    *at = std::move(value);
}

/// Of a model of the lesson; `recipe`: the quantized model is made by one.
Inputs modelInputs(const LessonModel& model, bool recipe)
{
    Inputs inputs;
    inputs.floatPath = model.floatPath;
    inputs.data.spec = model.data;
    inputs.data.limit = model.limit;
    if (recipe)
        inputs.calibration.spec = model.calibration;
    else
        inputs.quantPath = model.quantizedPath;
    return inputs;
}

} // namespace

Result<LessonJson> recipeChanges(const std::string& text)
{
    const size_t first = text.find_first_not_of(" \t\n");
    if (first != std::string::npos && text[first] == '{') {
        auto json = readJson(text, kTypedLimits);
        if (!json.ok())
            return badInput("the recipe " + json.issue().what, {}, kTypedRemedy);
        return json;
    }
    LessonJson changes = LessonJson::object();
    for (const std::string& word : wordsOf(text)) {
        const size_t equals = word.rfind('=');
        const auto parts = partsOf(word.substr(0, std::min(equals, word.size())));
        if (equals == std::string::npos || parts.size() > 6 || std::ranges::find(parts, "") != parts.end())
            return badInput("'" + oneLine(word, 80) + "' is no change of a recipe", {}, kTypedRemedy);
        putAt(changes, parts, typedValue(word.substr(0, equals), word.substr(equals + 1)));
    }
    if (changes.empty())
        return badInput("nothing is changed", {}, kTypedRemedy);
    return changes;
}

Result<Inputs> inputsOf(const Lesson& lesson, const LessonSetup& setup, const LessonJson& changes)
{
    if (setup.own && !lesson.own)
        return badInput("no models of your own are open");
    Inputs inputs = setup.own ? *lesson.own : modelInputs(lesson.models.at(setup.model), setup.recipe.has_value());
    if (!setup.arithmetic.empty())
        inputs.profile = setup.arithmetic == "integer" ? ArithmeticProfile::Integer
            : setup.arithmetic == "integer-avx2"       ? ArithmeticProfile::IntegerAvx2
                                                       : ArithmeticProfile::Simulated;
    if (!setup.recipe)
        return inputs;
    LessonJson recipe = *setup.recipe;
    if (!changes.is_null())
        recipe.merge_patch(changes);
    auto made = recipeOf(recipe);
    if (!made.ok())
        return badInput("the recipe " + made.issue().what, {}, made.issue().remedy);
    return byRecipe(std::move(inputs), *made);
}

Result<SnapshotPtr> LessonSnapshots::of(const Inputs& asked)
{
    const auto known
        = std::ranges::find_if(m_kept, [&](const SnapshotPtr& kept) { return kept->inputs.asked() == asked.asked(); });
    if (known != m_kept.end()) {
        std::rotate(known, known + 1, m_kept.end());
        return m_kept.back();
    }
    Inputs inputs = asked;
    static_cast<RunSettings&>(inputs) = m_settings;
    const auto previous = std::find_if(m_kept.rbegin(), m_kept.rend(),
        [&](const SnapshotPtr& kept) { return kept->inputs.floatPath == asked.floatPath; });
    QS_TRY(
        SnapshotPtr made, buildSnapshot(inputs, previous == m_kept.rend() ? nullptr : *previous, m_progress, m_cancel));
    if (!made->comparison || made->comparison->outputs.empty())
        return badInput("nothing can be compared: the models or the data are missing");
    if (m_kept.size() == kKept) {
        m_measured.erase(m_kept.front().get());
        m_kept.erase(m_kept.begin());
    }
    m_kept.push_back(made);
    return made;
}

std::shared_ptr<LessonJson> LessonSnapshots::measured(const SnapshotPtr& snapshot)
{
    if (std::ranges::find(m_kept, snapshot) == m_kept.end())
        return std::make_shared<LessonJson>();
    std::shared_ptr<LessonJson>& kept = m_measured[snapshot.get()];
    if (!kept)
        kept = std::make_shared<LessonJson>();
    return kept;
}

} // namespace qs
