// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/files/runs.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace qs {

namespace {

Number minus(const Number& after, const Number& before)
{
    return after && before ? Number(*after - *before) : std::nullopt;
}

/// Names that are in one list alone, in the order of that list.
std::vector<std::string> added(const std::vector<std::string>& before, const std::vector<std::string>& after)
{
    std::vector<std::string> names;
    for (const std::string& name : after)
        if (std::ranges::find(before, name) == before.end())
            names.push_back(name);
    return names;
}

std::string counted(const std::string& verb, const std::vector<std::string>& names, const std::string& what)
{
    return names.size() == 1 ? verb + " " + names.front() : verb + " " + std::to_string(names.size()) + " " + what;
}

/// "per_channel" -> "Per channel"
std::string inWords(std::string field)
{
    std::ranges::replace(field, '_', ' ');
    if (!field.empty() && field[0] >= 'a' && field[0] <= 'z')
        field[0] = static_cast<char>(field[0] - 'a' + 'A');
    return field;
}

std::string unquoted(const std::string& json)
{
    return json.size() >= 2 && json.front() == '"' ? json.substr(1, json.size() - 2) : json;
}

std::string describeSetting(const RecipeChange& change)
{
    const size_t dot = change.field.find_last_of('.');
    const std::string name = inWords(dot == std::string::npos ? change.field : change.field.substr(dot + 1));
    if (change.after == "true")
        return name + " on";
    if (change.after == "false")
        return name + " off";
    if (change.after == "null" || change.after == "[]")
        return name + " as by default";
    constexpr size_t kShown = 40;
    std::string value = unquoted(change.after);
    return value.size() > kShown ? "Change " + name : name + " " + value;
}

/// The tensor that all changes are about; "" where there is none.
std::string onlyTensor(const Recipe& before, const Recipe& after)
{
    std::set<std::string> names;
    for (const auto* side : { &before.tensors, &after.tensors })
        for (const auto& [name, override] : *side) {
            const auto other = [&](const auto& tensors) {
                const auto it = tensors.find(name);
                return it == tensors.end() ? TensorOverride {} : it->second;
            };
            if (!(other(before.tensors) == other(after.tensors)))
                names.insert(name);
        }
    Recipe rest = before;
    rest.tensors = after.tensors;
    return names.size() == 1 && rest == after ? *names.begin() : std::string();
}

} // namespace

RunDifference runDifference(const RecipeRun& before, const RecipeRun& after)
{
    RunDifference d;
    d.settings = recipeDiff(before.recipe, after.recipe);
    if (!before.numbers || !after.numbers)
        return d;
    const RunNumbers &a = *after.numbers, &b = *before.numbers;
    d.quantizedMacShare = minus(a.quantizedMacShare, b.quantizedMacShare);
    if (a.fileBytes && b.fileBytes)
        d.fileBytes = static_cast<int64_t>(*a.fileBytes) - static_cast<int64_t>(*b.fileBytes);
    if (a.measuredOn != b.measuredOn)
        return d;
    d.outputSqnrDb = minus(a.outputSqnrDb, b.outputSqnrDb);
    d.accuracy = minus(a.accuracy, b.accuracy);
    d.top1Agreement = minus(a.top1Agreement, b.top1Agreement);
    return d;
}

RunTree RunTree::of(std::vector<RecipeRun> runs, RunId current)
{
    RunTree tree;
    for (RecipeRun& run : runs) {
        if (run.id == 0 || tree.find(run.id))
            continue;
        if (!tree.find(run.parent))
            run.parent = 0;
        tree.m_next = std::max(tree.m_next, run.id + 1);
        tree.m_runs.push_back(std::move(run));
    }
    tree.branch(current);
    return tree;
}

const RecipeRun* RunTree::find(RunId id) const
{
    const auto it = std::ranges::find(m_runs, id, &RecipeRun::id);
    return id == 0 || it == m_runs.end() ? nullptr : &*it;
}

RecipeRun* RunTree::at(RunId id) { return const_cast<RecipeRun*>(find(id)); }

const RecipeRun* RunTree::findRecipe(const Recipe& recipe) const
{
    const auto it
        = std::find_if(m_runs.rbegin(), m_runs.rend(), [&](const RecipeRun& run) { return run.recipe == recipe; });
    return it == m_runs.rend() ? nullptr : &*it;
}

std::vector<RunId> RunTree::childrenOf(RunId parent) const
{
    std::vector<RunId> ids;
    for (const RecipeRun& run : m_runs)
        if (run.parent == parent)
            ids.push_back(run.id);
    return ids;
}

RunId RunTree::add(RecipeRun run)
{
    run.id = m_next++;
    if (!find(run.parent))
        run.parent = 0;
    m_current = run.id;
    m_runs.push_back(std::move(run));
    return m_current;
}

void RunTree::branch(RunId id)
{
    if (find(id))
        m_current = id;
}

void RunTree::rename(RunId id, std::string name)
{
    if (RecipeRun* run = at(id))
        run->name = std::move(name);
}

void RunTree::annotate(RunId id, std::string note)
{
    if (RecipeRun* run = at(id))
        run->note = std::move(note);
}

void RunTree::measured(RunId id, RunNumbers numbers)
{
    if (RecipeRun* run = at(id))
        run->numbers = std::move(numbers);
}

void RunTree::replaceRecipe(RunId id, Recipe recipe)
{
    if (RecipeRun* run = at(id)) {
        run->recipe = std::move(recipe);
        run->numbers.reset();
    }
}

void RunTree::remove(RunId id)
{
    const RecipeRun* gone = find(id);
    if (!gone || gone->imported)
        return;
    const RunId parent = gone->parent;
    for (RecipeRun& run : m_runs)
        if (run.parent == id)
            run.parent = parent;
    if (m_current == id)
        m_current = parent;
    std::erase_if(m_runs, [&](const RecipeRun& run) { return run.id == id; });
}

RunId RunTree::best() const
{
    const RecipeRun* shown = find(m_current);
    std::string on;
    if (shown && shown->numbers)
        on = shown->numbers->measuredOn;
    const auto worth = [](const RunNumbers& n) {
        return std::tuple(n.accuracy.value_or(-1), n.exact, n.outputSqnrDb.value_or(-1e9));
    };
    const RecipeRun* best = nullptr;
    for (const RecipeRun& run : m_runs) {
        if (!run.numbers || (!on.empty() && run.numbers->measuredOn != on))
            continue;
        if (!best || worth(*run.numbers) > worth(*best->numbers))
            best = &run;
    }
    return best ? best->id : 0;
}

std::string describeChange(const Recipe& before, const Recipe& after)
{
    if (before == after)
        return {};
    Recipe rest = before;
    rest.exclude = after.exclude;
    const auto excluded = added(before.exclude, after.exclude), back = added(after.exclude, before.exclude);
    if (rest == after && back.empty() && !excluded.empty())
        return counted("Exclude", excluded, "nodes");
    if (rest == after && excluded.empty() && !back.empty())
        return counted("Include", back, "nodes");
    if (const std::string tensor = onlyTensor(before, after); !tensor.empty())
        return after.tensors.contains(tensor) ? "Change " + tensor : "Reset " + tensor;
    const auto changes = recipeDiff(before, after);
    return changes.size() == 1 ? describeSetting(changes.front()) : std::to_string(changes.size()) + " changes";
}

} // namespace qs
