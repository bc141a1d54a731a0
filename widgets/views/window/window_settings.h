// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session/shown/theme.h"

#include <QByteArray>

namespace qs {

/// Whether the window takes its size, arrangement and theme from last time and leaves them for next time.
enum class WindowMemory { Remembered, Fresh };

/// What the user's settings remember of the window; what is empty is not known, or stays as it was.
struct WindowSettings {
    QByteArray geometry; ///< QWidget::saveGeometry()
    QByteArray docks; ///< DockLayout::state()
    std::optional<ThemeChoice> theme;
    std::optional<bool> tryRemedies {}; ///< Session::autoTry()
};

WindowSettings readWindowSettings();
void keepWindowSettings(const WindowSettings& settings);

} // namespace qs
