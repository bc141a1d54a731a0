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
    /// What the edit changes.
    struct State {
        Recipe recipe;
        ManualLinks links;
        bool operator==(const State&) const = default;
    };
    Edit(RecipeHistory& history, const QString& text, State next, const QString& mergeKey, quint64 step)
        : QUndoCommand(text)
        , m_history(history)
        , m_before { history.m_recipe, history.m_links }
        , m_after(std::move(next))
        , m_mergeKey(mergeKey)
        , m_step(step)
    {
    }
    quint64 step() const { return m_step; }

    void undo() override { put(m_before); }
    void redo() override { put(m_after); }
    int id() const override { return m_mergeKey.isEmpty() ? -1 : 1; }
    bool mergeWith(const QUndoCommand* other) override
    {
        const auto* newer = static_cast<const Edit*>(other);
        if (newer->m_mergeKey != m_mergeKey)
            return false;
        m_after = newer->m_after;
        setText(newer->text());
        setObsolete(m_after == m_before); // dragged back to where it was
        return true;
    }

private:
    void put(const State& state)
    {
        m_history.m_recipe = state.recipe;
        m_history.m_links = state.links;
    }

    RecipeHistory& m_history;
    State m_before, m_after;
    QString m_mergeKey;
    quint64 m_step;
};

RecipeHistory::RecipeHistory(QObject* parent)
    : RecipeEdits(parent)
    , m_base { quantscopeRecipe(), ValueOrigin::Preset }
    , m_recipe(m_base.recipe)
    , m_told(m_recipe)
{
    m_stack.setUndoLimit(kMostSteps);
    // Comes when the stack has settled, after a step took up another, too.
    connect(&m_stack, &QUndoStack::indexChanged, this, &RecipeHistory::tell);
}

RecipeHistory::~RecipeHistory() { m_stack.disconnect(this); } // it empties itself when the recipe is gone

void RecipeHistory::apply(const QString& text, const Recipe& next, const QString& mergeKey)
{
    if (m_editable && !(next == m_recipe))
        m_stack.push(new Edit(*this, text, { next, m_links }, mergeKey, m_nextStep++));
}

void RecipeHistory::applyLinks(const QString& text, const ManualLinks& next)
{
    if (!(next == m_links))
        m_stack.push(new Edit(*this, text, { m_recipe, next }, {}, m_nextStep++));
}

void RecipeHistory::resumeLinks(const ManualLinks& links)
{
    m_links = links;
    restart();
}

void RecipeHistory::reset(const RecipeBase& base)
{
    m_base = base;
    resume(base.recipe);
}

void RecipeHistory::resume(const Recipe& recipe)
{
    m_recipe = recipe;
    restart();
}

/// Without steps; nobody edited anything.
void RecipeHistory::restart()
{
    const Recipe recipe = std::exchange(m_told, m_recipe);
    const ManualLinks links = std::exchange(m_toldLinks, m_links);
    m_stack.clear();
    tellSince(recipe, links);
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
    const Recipe recipe = std::exchange(m_told, m_recipe);
    const ManualLinks links = std::exchange(m_toldLinks, m_links);
    if (!(m_recipe == recipe) || !(m_links == links))
        emit edited();
    tellSince(recipe, links);
}

void RecipeHistory::tellSince(const Recipe& recipe, const ManualLinks& links)
{
    const bool otherLinks = !(m_links == links);
    if (!(m_recipe == recipe))
        emit recipeChanged();
    if (otherLinks)
        emit linksChanged();
}

} // namespace qs
