// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/base/translated.h"
#include "widgets/views/actions/action_registry.h"
#include "widgets/views/actions/named_action.h"
#include "widgets/views/actions/shortcut_dialog.h"
#include "widgets/views/agent/agent_menu.h"
#include "widgets/views/base/table_panel.h"
#include "widgets/views/graph/graph_panel.h"
#include "widgets/views/tables/matching_panel.h"
#include "widgets/views/window/menus/window_menus.h"

#include <QActionGroup>
#include <QMenuBar>
#include <QUndoStack>

#include <algorithm>

namespace qs {

namespace {

constexpr int kHistoryLength = 20; ///< steps before and after the present one
constexpr qsizetype kMostLetters = 60; ///< of a step's name in the menu; the tool tip has all

QString brief(const QString& step)
{
    const qsizetype side = kMostLetters / 2;
    return withoutMnemonics(
        step.size() <= kMostLetters ? step : step.first(side) + QStringLiteral("…") + step.last(side));
}

/// The steps so far; a click goes back or forward to one.
void fillHistory(QMenu* menu, QUndoStack& stack)
{
    menu->clear();
    auto* steps = new QActionGroup(menu);
    const int first = std::max(0, stack.index() - kHistoryLength),
              last = std::min(stack.count(), first + 2 * kHistoryLength);
    for (int i = first; i <= last; ++i) {
        QAction* action = menu->addAction(i == 0 ? tr("as opened") : brief(stack.text(i - 1)));
        action->setCheckable(true);
        action->setChecked(i == stack.index());
        steps->addAction(action);
        QObject::connect(action, &QAction::triggered, &stack, [&stack, i] { stack.setIndex(i); });
    }
}

void addUndo(QMenu* menu, QUndoStack& stack)
{
    QAction* undo
        = addEntry(menu, QStringLiteral("edit.undo"), {}, { QKeySequence::Undo }, &stack, [&stack] { stack.undo(); });
    QAction* redo = addEntry(menu, QStringLiteral("edit.redo"), {},
        { QKeySequence(QStringLiteral("Ctrl+Shift+Z")), QKeySequence(QStringLiteral("Ctrl+Y")) }, &stack,
        [&stack] { stack.redo(); });
    QMenu* history = menu->addMenu(tr("&History"));
    markAsList(*history);
    const auto refresh = [undo, redo, history, &stack] {
        undo->setText(stack.canUndo() ? tr("&Undo %1").arg(brief(stack.undoText())) : tr("&Undo"));
        redo->setText(stack.canRedo() ? tr("&Redo %1").arg(brief(stack.redoText())) : tr("&Redo"));
        setTip(*undo, stack.undoText());
        setTip(*redo, stack.redoText());
        enable(*undo, stack.canUndo(), tr("Nothing was changed"));
        enable(*redo, stack.canRedo(), tr("Nothing was undone"));
        enable(*history->menuAction(), stack.count() > 0, tr("Nothing was changed"));
    };
    refresh();
    for (const auto signal : { &QUndoStack::undoTextChanged, &QUndoStack::redoTextChanged })
        QObject::connect(&stack, signal, menu, refresh);
    QObject::connect(&stack, &QUndoStack::indexChanged, menu, refresh);
    QObject::connect(history, &QMenu::aboutToShow, history, [history, &stack] { fillHistory(history, stack); });
    menu->addSeparator();
}

/// Of the table that has the focus.
void addCopying(QMenu* menu, TablePanel* tensors)
{
    const auto copy = [tensors](TableFormat format) {
        const TablePanel* focused = TablePanel::inFocus();
        (focused ? focused : tensors)->copyRows(format);
    };
    addEntry(menu, QStringLiteral("edit.copyTsv"), tr("Copy table as &TSV"),
        { QKeySequence(QStringLiteral("Ctrl+Shift+C")) }, tensors, [copy] { copy(TableFormat::Tsv); });
    addEntry(menu, QStringLiteral("edit.copyMarkdown"), tr("Copy table as &Markdown"),
        { QKeySequence(QStringLiteral("Ctrl+Alt+C")) }, tensors, [copy] { copy(TableFormat::Markdown); });
}

void addFinding(QMenu* menu, const WindowParts& parts)
{
    TablePanel* tensors = &parts.tensors;
    GraphPanel* graph = &parts.graph;
    addEntry(menu, QStringLiteral("edit.find"), tr("&Find in the graph"), { QKeySequence(QKeySequence::Find) }, graph,
        [graph] { graph->openSearch(); });
    addEntry(menu, QStringLiteral("edit.filter"), tr("Fi&lter tensors"), { QKeySequence(QStringLiteral("Ctrl+L")) },
        tensors, [tensors, raise = parts.raisePanel] {
            raise(tensors->objectName());
            tensors->focusFilter();
        });
    addEntry(menu, QStringLiteral("edit.palette"), tr("&Go to anything…"),
        { QKeySequence(QStringLiteral("Ctrl+Shift+P")), QKeySequence(QStringLiteral("Ctrl+G")) }, &parts.window,
        [open = parts.openPalette] { open(); });
}

} // namespace

void buildEditMenu(const WindowParts& parts)
{
    QMenu* menu = parts.window.menuBar()->addMenu(tr("&Edit"));
    QMainWindow* window = &parts.window;
    addUndo(menu, parts.session.recipe().stack());
    addCopying(menu, &parts.tensors);
    menu->addSeparator();
    QMenu* matching = menu->addMenu(tr("&Pairs of tensors"));
    matching->addActions({ parts.matching.linkAction(), parts.matching.unlinkAction() });
    menu->addSeparator();
    addFinding(menu, parts);
    menu->addSeparator();
    QMenu* agents = menu->addMenu(tr("&Agents"));
    agents->setObjectName(QStringLiteral("agentMenu"));
    fillAgentMenu(*agents, parts.agents, parts.session);
    menu->addSeparator();
    addEntry(menu, QStringLiteral("edit.shortcuts"), tr("&Keyboard shortcuts…"), {}, window,
        [window] { (new ShortcutDialog(*window->findChild<ActionRegistry*>(), window))->open(); });
}

} // namespace qs
