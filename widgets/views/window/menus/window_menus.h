// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/views/window/menus/window_parts.h"

namespace qs {

/// Fills the menu bar: every action of the window with its shortcut.
void buildMenus(const WindowParts& parts);

/// One menu each, in the order of the menu bar. `exports` stands in two of them.
QMenu* makeExportMenu(const WindowParts& parts);
void buildFileMenu(const WindowParts& parts, QMenu* exports);
void buildEditMenu(const WindowParts& parts);
void buildRecipeMenu(const WindowParts& parts, QMenu* exports);
void buildGoMenu(const WindowParts& parts);
void buildViewMenu(const WindowParts& parts);
void buildLessonsMenu(const WindowParts& parts);
void buildHelpMenu(const WindowParts& parts);

} // namespace qs
