// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session/files/recent_files.h"
#include "widgets/session/session.h"

#include <QMainWindow>

#include <functional>

class QAction;
class QMenu;

namespace qs {

class AgentServing;
class GraphPanel;
class LessonRoom;
class MatchingPanel;
class RecipeView;
class TablePanel;
class Tour;

/// What the menus act on.
struct WindowParts {
    QMainWindow& window;
    Session& session;
    RecentFiles& recent;
    GraphPanel& graph;
    TablePanel& tensors;
    RecipeView& recipe;
    MatchingPanel& matching;
    Tour& tour;
    Inputs example; ///< no paths: it is not installed
    std::function<void()> openLanguageExample;
    std::function<void(const QString& path)> saveProject; ///< empty path: asks for one
    std::function<ThemeChoice()> theme;
    std::function<void(ThemeChoice)> setTheme;
    std::function<void(const QString& name)> raisePanel;
    QList<QAction*> panels; ///< show and hide them
    std::function<void(bool forward)> nextPanel; ///< gives the focus to another one
    std::function<void(QMenu&)> fillLayouts;
    std::function<void()> openPalette;
    LessonRoom& lessons;
    AgentServing& agents;
};

} // namespace qs
