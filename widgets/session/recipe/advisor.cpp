// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/session/recipe/advisor.h"

#include "core/quant/recipe/recipe_edit.h"
#include "widgets/models/base/formatting.h"
#include "widgets/session/recipe/quantized_snapshot.h"

namespace qs {

Advisor::Advisor(Session& session, RecipeView& recipe, QObject* parent)
    : QObject(parent)
    , m_session(session)
    , m_recipe(recipe)
{
    connect(&session, &Session::snapshotChanged, this,
        [this](const SnapshotPtr& now, const SnapshotPtr& before) { forgetOthers(*now, *before); });
    connect(&session.jobs(), &JobList::started, this, &Advisor::changed);
    connect(&session.jobs(), &JobList::finished, this, &Advisor::changed);
    connect(&session.recipe(), &RecipeEdits::recipeChanged, this, &Advisor::changed);
}

void Advisor::forgetOthers(const Snapshot& now, const Snapshot& before)
{
    const auto model = [](const Snapshot& s) { return s.floatModel ? s.floatModel->model.get() : nullptr; };
    if (model(now) == model(before) && now.data == before.data)
        return;
    m_session.jobs().cancelTag(kTag);
    m_sensitivity.reset();
    m_found.clear();
    emit changed();
}

bool Advisor::possible() const
{
    const SnapshotPtr snapshot = m_session.snapshot();
    return m_session.recipe().editable() && snapshot->floatModel && snapshot->data;
}

bool Advisor::measuredThis() const { return m_session.recipe().recipe() == m_sensitivityOf; }

bool Advisor::foundForThis() const { return m_session.recipe().recipe() == m_foundOf; }

bool Advisor::running() const { return m_session.jobs().running(kTag); }

void Advisor::start(const QString& title, std::function<Result<std::function<void()>>(const JobContext&)> process)
{
    JobRequest job;
    job.tag = kTag;
    job.title = title;
    job.process = std::move(process);
    job.failed = [this](const Issue& issue) { emit m_session.failed(issue); };
    m_session.jobs().start(std::move(job));
}

void Advisor::measure(UnitKind by)
{
    if (!possible())
        return;
    start(tr("Measure what each %1 costs").arg(by == UnitKind::Type ? tr("operator type") : tr("node")),
        [this, by, shown = m_session.snapshot(), recipe = m_session.recipe().recipe()](
            const JobContext& job) -> Result<std::function<void()>> {
            QS_TRY(const SnapshotPtr snapshot, quantizedSnapshot(shown, recipe, job));
            const auto partial = [this, &job, &recipe](const Sensitivity& part) {
                job.post([this, recipe, so = std::make_shared<const Sensitivity>(part)] {
                    m_sensitivity = so;
                    m_sensitivityOf = recipe;
                    emit changed();
                });
            };
            QS_TRY(Sensitivity found, sensitivityOf(*snapshot, by, {}, job.progress, job.cancel, true, partial));
            auto result = std::make_shared<const Sensitivity>(std::move(found));
            return std::function<void()>([this, recipe, result] {
                m_sensitivity = result;
                m_sensitivityOf = recipe;
                emit changed();
            });
        });
}

void Advisor::search(double seconds)
{
    if (!possible())
        return;
    start(tr("Search for the best calibrator"),
        [this, seconds, shown = m_session.snapshot(), recipe = m_session.recipe().recipe()](
            const JobContext& job) -> Result<std::function<void()>> {
            QS_TRY(auto found, searchRecipes(shown, recipe, seconds, job.progress, job.cancel));
            return std::function<void()>([this, recipe, found = std::move(found)] {
                m_found = found;
                m_foundOf = recipe;
                emit changed();
            });
        });
}

void Advisor::exclude(const std::vector<std::string>& units, const QString& text)
{
    RecipeEdits& edits = m_session.recipe();
    Recipe next = edits.recipe();
    std::vector<size_t> members;
    for (const std::string& unit : units) {
        if (m_sensitivity && m_sensitivity->by == UnitKind::Type)
            next = withType(std::move(next), m_recipe.nodes(), unit, false);
        else if (const auto node = m_recipe.find(unit))
            members.push_back(*node);
    }
    next = withNodes(std::move(next), m_recipe.nodes(), members, false);
    edits.apply(text, next);
}

void Advisor::apply(const FoundRecipe& found)
{
    m_session.recipe().apply(tr("Use %1").arg(toQt(found.name)), found.recipe);
}

} // namespace qs

#include "moc_advisor.cpp"
