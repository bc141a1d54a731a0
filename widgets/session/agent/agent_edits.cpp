// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/session/agent/agent_edits.h"

#include "core/agent/session/agent_session.h"

#include <QGuiApplication>

namespace qs {

namespace {

Issue foreignStep(const QString& text, const char* what)
{
    return badUse("the step to " + std::string(what) + ", '" + text.toStdString() + "', is the person's and not yours",
        "leave it to them");
}

} // namespace

AgentEdits::AgentEdits(Session& session, QObject* parent)
    : QObject(parent)
    , m_session(session)
{
    connect(&session.recipe().stack(), &QUndoStack::indexChanged, this, &AgentEdits::changed);
    connect(&session.recipe(), &RecipeEdits::recipeChanged, this, &AgentEdits::changed); // steps that were kept
    accept();
}

QString AgentEdits::markedText(const QString& text) { return tr("Agent: %1").arg(text); }

bool AgentEdits::isMarked(const QString& text) { return text.startsWith(markedText({})); }

void AgentEdits::setAllowed(bool allowed)
{
    m_allowed = allowed;
    emit changed();
}

int AgentEdits::open() const
{
    const SavedSteps steps = m_session.recipe().steps();
    size_t first = steps.index;
    while (first > 0 && isMarked(m_session.recipe().stack().text(int(first) - 1))
        && !m_accepted.contains(steps.states[first]))
        --first;
    return int(steps.index - first);
}

void AgentEdits::accept()
{
    const SavedSteps steps = m_session.recipe().steps();
    m_accepted = { steps.states.begin(), steps.states.begin() + std::ptrdiff_t(steps.index) + 1 };
    emit changed();
}

Result<int> AgentEdits::refuse()
{
    setAllowed(false);
    if (open() > 0 && !m_session.recipe().editable())
        return badUse(tr("other models are being opened, so the agent's edits were not taken back").toStdString(),
            tr("refuse them again when that is over").toStdString());
    QUndoStack& stack = m_session.recipe().stack();
    stack.setIndex(stack.index() - open());
    const SavedSteps steps = m_session.recipe().steps();
    int left = 0;
    for (size_t i = steps.index; i > 0 && !m_accepted.contains(steps.states[i]); --i)
        left += isMarked(stack.text(int(i) - 1)) ? 1 : 0;
    emit changed();
    return left;
}

Status AgentEdits::possible() const
{
    if (!m_allowed)
        return badUse("the person at the window lets you look and not edit", "ask them to allow edits there");
    if (m_session.guest())
        return badUse("the person at the window takes a lesson", "wait until it is over");
    if (QGuiApplication::modalWindow())
        return badUse("a dialog is open in the window", "wait until the person has answered it");
    return {};
}

Status AgentEdits::editable() const
{
    QS_CHECK(possible());
    if (m_session.recipe().editable())
        return {};
    if (m_session.work() == Session::Work::Opening)
        return badUse("the window is opening other models", "wait until they are open, and look at them");
    return badUse("what is open in the window has no recipe that can be edited", "open a float model there");
}

Status AgentEdits::edit(const QString& text, const Recipe& before, const Recipe& after)
{
    QS_CHECK(editable());
    RecipeHistory& history = m_session.recipe();
    if (!(history.recipe() == before))
        return badUse("the person at the window has edited the recipe meanwhile", "look at it and edit it again");
    if (after == before)
        return badUse("the recipe says that already, so nothing was changed", "give other changes");
    history.apply(markedText(text), after);
    return {};
}

Status AgentEdits::undo(int steps)
{
    QS_CHECK(editable());
    QUndoStack& stack = m_session.recipe().stack();
    const int end = stack.index();
    if (steps > end)
        return notSoManySteps(false, size_t(end));
    for (int i = end; i > end - steps; --i)
        if (!isMarked(stack.text(i - 1)))
            return foreignStep(stack.text(i - 1), "undo");
    stack.setIndex(end - steps);
    return {};
}

Status AgentEdits::redo(int steps)
{
    QS_CHECK(editable());
    QUndoStack& stack = m_session.recipe().stack();
    const int begin = stack.index(), most = stack.count() - begin;
    if (steps > most)
        return notSoManySteps(true, size_t(most));
    for (int i = begin; i < begin + steps; ++i)
        if (!isMarked(stack.text(i)))
            return foreignStep(stack.text(i), "redo");
    stack.setIndex(begin + steps);
    return {};
}

} // namespace qs

#include "moc_agent_edits.cpp"
