// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/agent/session/own_session.h"

#include "core/project/search/tried_remedies.h"
#include "core/project/snapshot/build_snapshot.h"
#include "core/project/snapshot/quantized_example.h"

#include <utility>

namespace qs {

namespace {

constexpr size_t kKeptSteps = 1000;

} // namespace

OwnSession::OwnSession(Inputs inputs, Check check, std::optional<Recipe> recipe)
    : m_inputs(std::move(inputs))
    , m_check(std::move(check))
    , m_steps { { "as opened", std::move(recipe) } }
{
}

Result<OwnSession> OwnSession::open(Inputs inputs, Check check, const WorkContext& work)
{
    std::optional<Recipe> recipe = std::exchange(inputs.recipe, std::nullopt);
    if (!recipe && inputs.quantPath.empty())
        recipe = quantscopeRecipe();
    Inputs looked = inputs;
    looked.compare = false;
    OwnSession session(std::move(inputs), std::move(check), std::move(recipe));
    QS_TRY(session.m_models, session.build(looked, work));
    return session;
}

Inputs OwnSession::present() const
{
    const std::optional<Recipe>& recipe = m_steps[m_step].recipe;
    return recipe ? byRecipe(m_inputs, *recipe) : m_inputs;
}

Result<SnapshotPtr> OwnSession::build(const Inputs& inputs, const WorkContext& work) const
{
    QS_TRY(SnapshotPtr made, buildSnapshot(inputs, m_comparison ? m_comparison : m_models, work.progress, work.cancel));
    QS_CHECK(unchanged(*made));
    QS_CHECK(m_check(*made));
    return made;
}

Result<SnapshotPtr> OwnSession::compared(const WorkContext& work)
{
    if (upToDate() && unchanged(*m_comparison).ok())
        return m_comparison;
    if (m_inputs.data.spec.empty())
        return badUse("a comparison needs samples", "open the models again with data");
    QS_TRY(SnapshotPtr made, build(present(), work));
    if (!made->comparison)
        return badInput("nothing could be compared", m_inputs.floatPath, "open a float model and its quantized one");
    tell(std::move(made));
    return m_comparison;
}

Result<SnapshotPtr> OwnSession::tried(size_t most, const WorkContext& work)
{
    QS_TRY(const SnapshotPtr snapshot, compared(work));
    if (most == 0 || snapshot->comparison->trials)
        return snapshot;
    QS_TRY(SnapshotPtr made, withTriedRemedies(snapshot, most, work.progress, work.cancel, work.threads));
    tell(std::move(made));
    return m_comparison;
}

Result<SnapshotPtr> OwnSession::ready(const WorkContext& work)
{
    if (upToDate())
        return m_comparison;
    Inputs inputs = present();
    inputs.run = false;
    return build(inputs, work);
}

Result<SnapshotPtr> OwnSession::quantized(const WorkContext& work)
{
    if (!m_steps[m_step].recipe)
        return badUse("the quantized model is a file as it lies there, so there is nothing to make",
            "edit the recipe first: edit_recipe begins with what the file was made by");
    if (upToDate() && m_comparison->quantization)
        return m_comparison;
    Inputs inputs = present();
    inputs.compare = false;
    return build(inputs, work);
}

Result<Recipe> OwnSession::recipe(const WorkContext& work)
{
    if (const std::optional<Recipe>& recipe = m_steps[m_step].recipe)
        return *recipe;
    if (!m_readBack) {
        QS_TRY(const SnapshotPtr paired, ready(work));
        QS_TRY(const ReadBack back, readExample(*paired));
        m_readBack = recipeWithRanges(back);
    }
    return *m_readBack;
}

Status OwnSession::edit(std::string text, const Recipe&, Recipe after, const WorkContext&)
{
    m_steps.resize(m_step + 1);
    m_steps.push_back({ std::move(text), std::move(after) });
    if (m_steps.size() > kKeptSteps) // the first stays: what was opened
        m_steps.erase(m_steps.begin() + 1);
    goTo(m_steps.size() - 1);
    return {};
}

Status OwnSession::undo(size_t steps, const WorkContext&)
{
    if (steps > m_step)
        return notSoManySteps(false, m_step);
    goTo(m_step - steps);
    return {};
}

Status OwnSession::redo(size_t steps, const WorkContext&)
{
    const size_t most = m_steps.size() - 1 - m_step;
    if (steps > most)
        return notSoManySteps(true, most);
    goTo(m_step + steps);
    return {};
}

void OwnSession::goTo(size_t step)
{
    m_step = step;
    measured.reset();
}

} // namespace qs
