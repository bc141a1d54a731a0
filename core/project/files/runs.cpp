// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/files/runs.h"

#include <algorithm>
#include <unordered_set>

namespace qs {

namespace {

Number minus(const Number& after, const Number& before)
{
    return after && before ? Number(*after - *before) : std::nullopt;
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

void RunTree::nameData(const std::string& measuredOn)
{
    for (RecipeRun& run : m_runs)
        if (run.numbers && run.numbers->measuredOn.starts_with(kDataOfProject))
            run.numbers->measuredOn.replace(0, kDataOfProject.size(), measuredOn, 0, measuredOn.find('\n'));
}

RunTree RunTree::of(std::vector<RecipeRun> runs, RunId current)
{
    RunTree tree;
    std::unordered_set<RunId> known;
    for (RecipeRun& run : runs) {
        const bool parentKnown = known.contains(run.parent);
        if (run.id == 0 || !known.insert(run.id).second)
            continue;
        if (!parentKnown)
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

void RunTree::forgetNumbers(bool importedOnly)
{
    for (RecipeRun& run : m_runs)
        if (run.imported || !importedOnly)
            run.numbers.reset();
}

RecipeRun* RunTree::at(RunId id) { return const_cast<RecipeRun*>(find(id)); }

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

} // namespace qs
