// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session/theme.h"

#include <QIcon>

class QApplication;

namespace qs {

/// Fusion style, our font size and icon; once, before the first window.
void setUpApplication(QApplication& application);
/// Palette and style sheet of the theme, for every window.
void applyTheme(const Theme& theme);
QIcon applicationIcon();

} // namespace qs
