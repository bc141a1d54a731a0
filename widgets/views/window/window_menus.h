// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session/files/recent_files.h"
#include "widgets/session/session.h"

#include <QMainWindow>

#include <functional>

namespace qs {

class DockLayout;
class GraphPanel;
class HeaderStrip;
class MatchingPanel;
class NamedLayouts;
class RecipeView;
class TablePanel;
class Tour;

/// What the menus act on.
struct WindowParts {
    QMainWindow& window;
    Session& session;
    RecentFiles& recent;
    DockLayout& layout;
    NamedLayouts& layouts;
    GraphPanel& graph;
    TablePanel& tensors;
    HeaderStrip& strip;
    RecipeView& recipe;
    MatchingPanel& matching;
    Tour& tour;
    std::function<void(const QString& path)> saveProject; ///< empty path: asks for one
    std::function<ThemeChoice()> theme;
    std::function<void(ThemeChoice)> setTheme;
};

/// Fills the menu bar: every action of the window with its shortcut.
void buildMenus(const WindowParts& parts);

} // namespace qs
