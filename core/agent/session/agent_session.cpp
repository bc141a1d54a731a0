// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/agent/session/agent_session.h"

#include "core/project/snapshot/build_snapshot.h"
#include "core/project/snapshot/quantized_example.h"
#include "core/report/json/compare_json.h"

#include <utility>

namespace qs {

namespace {

constexpr size_t kKeptSteps = 1000;

} // namespace

AgentSession::AgentSession(Inputs inputs, Check check, std::optional<Recipe> recipe)
    : m_inputs(std::move(inputs))
    , m_check(std::move(check))
    , m_steps { { "as opened", std::move(recipe) } }
{
}

Result<AgentSession> AgentSession::open(Inputs inputs, Check check, const WorkContext& work)
{
    std::optional<Recipe> recipe = std::exchange(inputs.recipe, std::nullopt);
    if (!recipe && inputs.quantPath.empty())
        recipe = quantscopeRecipe();
    Inputs looked = inputs;
    looked.compare = false;
    AgentSession session(std::move(inputs), std::move(check), std::move(recipe));
    QS_TRY(session.m_models, session.build(looked, work));
    return session;
}

Inputs AgentSession::present() const
{
    const std::optional<Recipe>& recipe = m_steps[m_step].recipe;
    return recipe ? byRecipe(m_inputs, *recipe) : m_inputs;
}

Result<SnapshotPtr> AgentSession::build(const Inputs& inputs, const WorkContext& work) const
{
    QS_TRY(SnapshotPtr made, buildSnapshot(inputs, m_comparison ? m_comparison : m_models, work.progress, work.cancel));
    QS_CHECK(unchanged(*made));
    QS_CHECK(m_check(*made));
    return made;
}

bool AgentSession::upToDate() const { return m_comparison && m_comparison->inputs.asked() == present().asked(); }

Result<SnapshotPtr> AgentSession::compared(const WorkContext& work)
{
    if (upToDate() && unchanged(*m_comparison).ok())
        return m_comparison;
    if (m_inputs.data.spec.empty())
        return badUse("a comparison needs samples", "open the models again with data");
    QS_TRY(SnapshotPtr made, build(present(), work));
    if (!made->comparison)
        return badInput("nothing could be compared", m_inputs.floatPath, "open a float model and its quantized one");
    replaceComparison(std::move(made));
    return m_comparison;
}

void AgentSession::replaceComparison(SnapshotPtr comparison)
{
    m_comparison = std::move(comparison);
    m_document.reset();
}

const AgentJson& AgentSession::document()
{
    if (!m_document)
        m_document = m_comparison ? compareDocument(*m_comparison) : AgentJson();
    return *m_document;
}

Result<SnapshotPtr> AgentSession::ready(const WorkContext& work)
{
    if (upToDate())
        return m_comparison;
    Inputs inputs = present();
    inputs.run = false;
    return build(inputs, work);
}

Result<SnapshotPtr> AgentSession::quantized(const WorkContext& work)
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

Result<Recipe> AgentSession::recipe(const WorkContext& work)
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

void AgentSession::edit(std::string text, Recipe recipe)
{
    m_steps.resize(m_step + 1);
    m_steps.push_back({ std::move(text), std::move(recipe) });
    if (m_steps.size() > kKeptSteps) // the first stays: what was opened
        m_steps.erase(m_steps.begin() + 1);
    m_step = m_steps.size() - 1;
    measured.reset();
}

bool AgentSession::goTo(size_t step)
{
    if (step >= m_steps.size())
        return false;
    m_step = step;
    measured.reset();
    return true;
}

} // namespace qs
