// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/session/history/recipe_history.h"

#include <QUndoCommand>

#include <utility>

namespace qs {

namespace {

constexpr int kMostSteps = 1000;

} // namespace

class RecipeHistory::Edit : public QUndoCommand {
public:
    Edit(RecipeHistory& history, const QString& text, WorkState next, const QString& mergeKey)
        : QUndoCommand(text)
        , m_history(history)
        , m_before(history.m_now)
        , m_after(std::make_shared<const WorkState>(std::move(next)))
        , m_mergeKey(mergeKey)
        , m_step(history.m_nextStep++)
    {
    }
    Edit(RecipeHistory& history, const QString& text, WorkStatePtr before, WorkStatePtr after)
        : QUndoCommand(text)
        , m_history(history)
        , m_before(std::move(before))
        , m_after(std::move(after))
        , m_step(history.m_nextStep++)
    {
    }
    quint64 step() const { return m_step; }

    const WorkStatePtr& before() const { return m_before; }
    const WorkStatePtr& after() const { return m_after; }

    void undo() override { m_history.m_now = m_before; }
    void redo() override { m_history.m_now = m_after; }
    int id() const override { return m_mergeKey.isEmpty() ? -1 : 1; }
    bool mergeWith(const QUndoCommand* other) override
    {
        const auto* newer = static_cast<const Edit*>(other);
        if (newer->m_mergeKey != m_mergeKey)
            return false;
        m_after = newer->m_after;
        setText(newer->text());
        setObsolete(*m_after == *m_before); // dragged back to where it was
        return true;
    }

private:
    RecipeHistory& m_history;
    WorkStatePtr m_before, m_after;
    QString m_mergeKey;
    quint64 m_step;
};

RecipeHistory::RecipeHistory(QObject* parent)
    : RecipeEdits(parent)
    , m_base { quantscopeRecipe(), ValueOrigin::Preset }
    , m_now(std::make_shared<const WorkState>(WorkState { m_base.recipe, {} }))
    , m_told(m_now)
{
    m_stack.setUndoLimit(kMostSteps);
    // Comes when the stack has settled, after a step took up another, too.
    connect(&m_stack, &QUndoStack::indexChanged, this, &RecipeHistory::tell);
}

RecipeHistory::~RecipeHistory() { m_stack.disconnect(this); } // it empties itself when the recipe is gone

void RecipeHistory::apply(const QString& text, const Recipe& next, const QString& mergeKey)
{
    if (m_editable && !(next == recipe()))
        m_stack.push(new Edit(*this, text, { next, links() }, mergeKey));
}

void RecipeHistory::applyLinks(const QString& text, const ManualLinks& next)
{
    if (!(next == links()))
        m_stack.push(new Edit(*this, text, { recipe(), next }, {}));
}

void RecipeHistory::resumeLinks(const ManualLinks& links)
{
    m_now = std::make_shared<const WorkState>(WorkState { recipe(), links });
    restart();
}

void RecipeHistory::reset(const RecipeBase& base)
{
    m_base = base;
    resume(base.recipe);
}

void RecipeHistory::resume(const Recipe& recipe)
{
    m_now = std::make_shared<const WorkState>(WorkState { recipe, links() });
    restart();
}

SavedSteps RecipeHistory::steps() const
{
    SavedSteps steps;
    steps.states.push_back(m_now);
    for (int i = 0; i < m_stack.count(); ++i) {
        const auto* edit = static_cast<const Edit*>(m_stack.command(i));
        if (i == 0)
            steps.states.front() = edit->before();
        steps.states.push_back(edit->after());
        steps.texts.push_back(edit->text().toStdString());
    }
    steps.index = size_t(m_stack.index());
    return steps;
}

void RecipeHistory::resumeSteps(const SavedSteps& steps)
{
    if (steps.empty() || !(*steps.states.at(steps.index) == *m_now))
        return;
    m_resuming = true; // nobody edits anything
    m_stack.clear();
    for (size_t i = 0; i < steps.texts.size(); ++i)
        m_stack.push(new Edit(*this, QString::fromStdString(steps.texts[i]), steps.states[i], steps.states[i + 1]));
    m_stack.setIndex(int(steps.index));
    m_now = m_told = steps.states[steps.index];
    m_resuming = false;
    emit recipeChanged(); // with what can be undone
}

/// Without steps; nobody edited anything.
void RecipeHistory::restart()
{
    const WorkStatePtr before = std::exchange(m_told, m_now);
    m_stack.clear();
    tellSince(before);
}

void RecipeHistory::setEditable(bool editable)
{
    if (editable == m_editable)
        return;
    m_editable = editable;
    emit recipeChanged();
}

quint64 RecipeHistory::step() const
{
    const auto* last = static_cast<const Edit*>(m_stack.index() > 0 ? m_stack.command(m_stack.index() - 1) : nullptr);
    return last ? last->step() : 0;
}

void RecipeHistory::tell()
{
    if (m_resuming)
        return;
    const WorkStatePtr before = std::exchange(m_told, m_now);
    if (!(*m_now == *before))
        emit edited();
    tellSince(before);
}

void RecipeHistory::tellSince(const WorkStatePtr& before)
{
    const bool otherLinks = !(m_now->links == before->links);
    if (!(m_now->recipe == before->recipe))
        emit recipeChanged();
    if (otherLinks)
        emit linksChanged();
}

} // namespace qs

#include "moc_recipe_history.cpp"
