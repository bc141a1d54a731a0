// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QMenuBar;
class QWidget;

/// The windows of the Help menu; none of them blocks.
namespace qs {

void showNumbersHelp(QWidget* parent);
/// Every action of the menu bar that has a shortcut.
void showShortcutsHelp(QWidget* parent, const QMenuBar& menus);
void showAbout(QWidget* parent);

} // namespace qs
