// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/files/saved_steps.h"

#include "core/base/files/json_text.h"
#include "core/quant/recipe/recipe_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace qs {

namespace {

using StateJson = nlohmann::ordered_json;

constexpr const char* kDamaged = "is damaged: its steps of undo cannot be made again";

StateJson stateJson(const WorkState& state)
{
    return { { "recipe", StateJson::parse(recipeToJson(state.recipe)) },
        { "links", StateJson::parse(manualLinksJson(state.links)) } };
}

ManualPairs pairsIn(const StateJson& links, const char* key)
{
    ManualPairs pairs;
    for (const StateJson& pair : links.value(key, StateJson::array()))
        pairs.emplace_back(pair.at("float").get<std::string>(), pair.at("quantized").get<std::string>());
    return pairs;
}

Result<WorkStatePtr> stateOf(const StateJson& json)
{
    auto state = std::make_shared<WorkState>();
    QS_TRY(state->recipe, recipeOf(json.at("recipe")));
    state->links = { pairsIn(json.at("links"), "pairs"), pairsIn(json.at("links"), "apart") };
    return WorkStatePtr(std::move(state));
}

std::string patchOf(const WorkState& before, const WorkState& after)
{
    return StateJson::diff(stateJson(before), stateJson(after))
        .dump(-1, ' ', false, StateJson::error_handler_t::replace);
}

/// What patchOf() makes: places at most so deep are added, replaced or removed. Copies could double with each step.
bool isOurPatch(const StateJson& patch)
{
    constexpr ptrdiff_t kDepth = 16;
    return patch.is_array() && std::ranges::all_of(patch, [](const StateJson& part) {
        const auto &op = part.at("op").get_ref<const std::string&>(),
                   &path = part.at("path").get_ref<const std::string&>();
        return (op == "add" || op == "replace" || op == "remove") && std::ranges::count(path, '/') <= kDepth;
    });
}

Result<SavedSteps> stepsIn(const StateJson& json)
{
    SavedSteps steps;
    StateJson state = json.at("first");
    QS_TRY(WorkStatePtr first, stateOf(state));
    steps.states.push_back(std::move(first));
    for (const StateJson& step : json.at("steps")) {
        steps.texts.push_back(step.at("text").get<std::string>());
        if (!isOurPatch(step.at("patch")))
            return badInput(kDamaged);
        state = state.patch(step.at("patch"));
        QS_TRY(WorkStatePtr next, stateOf(state));
        steps.states.push_back(std::move(next));
    }
    steps.index = static_cast<size_t>(naturalOf(json.at("index")));
    if (steps.index >= steps.states.size())
        return badInput("is damaged: it names a step of undo that it does not have");
    return steps;
}

} // namespace

SavedSteps nearestSteps(const SavedSteps& steps, size_t mostBytes, StepPatches& known)
{
    size_t used = 0, first = steps.index, last = steps.index; // states that are kept
    const auto fits = [&](size_t step) {
        const std::pair between(steps.states[step], steps.states[step + 1]);
        const auto [patch, isNew] = known.try_emplace(between);
        if (isNew)
            patch->second = patchOf(*between.first, *between.second);
        used += patch->second.size() + steps.texts[step].size();
        return used <= mostBytes;
    };
    while (first > 0 && fits(first - 1))
        --first;
    while (last < steps.texts.size() && fits(last))
        ++last;
    SavedSteps near;
    if (first == last)
        return near;
    const auto at = [](const auto& list, size_t i) { return list.begin() + std::ptrdiff_t(i); };
    near.states.assign(at(steps.states, first), at(steps.states, last + 1));
    near.texts.assign(at(steps.texts, first), at(steps.texts, last));
    near.index = steps.index - first;
    return near;
}

std::string stepsToJson(const SavedSteps& steps, StepPatches& known)
{
    StepPatches used;
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (size_t i = 0; i < steps.texts.size(); ++i) {
        const std::pair between(steps.states[i], steps.states[i + 1]);
        const auto found = known.find(between);
        const std::string patch = found != known.end() ? found->second : patchOf(*between.first, *between.second);
        list.push_back({ { "text", steps.texts[i] }, { "patch", nlohmann::ordered_json::parse(patch) } });
        used.emplace(between, patch);
    }
    known = std::move(used);
    nlohmann::ordered_json json { { "index", steps.index } };
    json["first"] = nlohmann::ordered_json(stateJson(*steps.states.front()));
    json["steps"] = std::move(list);
    return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

Result<SavedSteps> stepsOf(const StateJson& json)
{
    try {
        return stepsIn(json);
    } catch (const StateJson::exception&) { // a value of another type, a patch that fits nothing
        return badInput(kDamaged);
    }
}

Result<SavedSteps> stepsFromJson(const std::string& text)
{
    const auto json = readJson(text);
    return json ? stepsOf(*json) : Result<SavedSteps>(badInput(kDamaged));
}

} // namespace qs
