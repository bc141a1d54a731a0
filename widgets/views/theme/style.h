// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session/shown/theme.h"

#include <QIcon>

class QApplication;

namespace qs {

/// Fusion style with our style sheet, our font size and icon; once, before the first window.
void setUpApplication(QApplication& application);
/// Colours of the theme, for every window. What is shown changes at once in one of the next events, the rest after it.
void applyTheme(const Theme& theme);
QIcon applicationIcon();

} // namespace qs
