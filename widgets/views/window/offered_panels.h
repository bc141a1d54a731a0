// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <functional>

class QWidget;

namespace qs {

/// The menus of what can be selected in a window, of tables and plots, get an entry that shows it in another panel.
void offerInMenus(QWidget& window, const QString& text, std::function<void()> show);

} // namespace qs
