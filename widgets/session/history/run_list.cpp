// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/session/history/run_list.h"

#include <algorithm>

namespace qs {

void RunList::rename(RunId id, const QString& name)
{
    m_tree.rename(id, name.toStdString());
    emit changed();
}

void RunList::annotate(RunId id, const QString& note)
{
    m_tree.annotate(id, note.toStdString());
    emit changed();
}

void RunList::remove(RunId id)
{
    m_tree.remove(id);
    emit changed();
}

RunId RunList::show(
    const Recipe& recipe, bool imported, quint64 step, const QString& name, const std::optional<RunNumbers>& numbers)
{
    const auto& runs = m_tree.runs();
    const auto known = std::find_if(runs.rbegin(), runs.rend(),
        [&](const RecipeRun& run) { return run.imported == imported && (imported || run.recipe == recipe); });
    if (known != runs.rend()) {
        m_tree.branch(known->id);
    } else if (step != 0 && step == m_step && !imported && m_tree.find(m_tree.current())) {
        m_tree.replaceRecipe(m_tree.current(), recipe);
        m_tree.rename(m_tree.current(), name.toStdString());
    } else {
        RecipeRun run;
        run.parent = m_apart ? 0 : m_tree.current();
        run.name = name.toStdString();
        run.recipe = recipe;
        run.imported = imported;
        m_tree.add(std::move(run));
    }
    m_step = step;
    m_apart = false;
    if (numbers) {
        RunNumbers now = *numbers;
        if (const RecipeRun* run = m_tree.find(m_tree.current()); run->numbers && !now.fileBytes)
            now.fileBytes = run->numbers->fileBytes;
        m_tree.measured(m_tree.current(), std::move(now));
    }
    emit changed();
    return m_tree.current();
}

void RunList::setFileBytes(RunId id, uint64_t bytes)
{
    const RecipeRun* run = m_tree.find(id);
    if (!run || !run->numbers)
        return;
    RunNumbers numbers = *run->numbers;
    numbers.fileBytes = bytes;
    m_tree.measured(id, std::move(numbers));
    emit changed();
}

void RunList::setRecipe(RunId id, const Recipe& recipe, const QString& note)
{
    const RecipeRun* run = m_tree.find(id);
    if (!run)
        return;
    const auto numbers = run->numbers;
    m_tree.replaceRecipe(id, recipe);
    m_tree.annotate(id, note.toStdString());
    if (numbers)
        m_tree.measured(id, *numbers);
    emit changed();
}

void RunList::restore(RunTree tree)
{
    m_apart = false;
    m_tree = std::move(tree);
    m_step = 0;
    emit changed();
}

void RunList::nameData(const std::string& measuredOn)
{
    if (measuredOn.empty())
        return;
    m_tree.nameData(measuredOn);
    emit changed();
}

void RunList::forgetNumbers(bool importedOnly)
{
    m_tree.forgetNumbers(importedOnly);
    emit changed();
}

} // namespace qs

#include "moc_run_list.cpp"
