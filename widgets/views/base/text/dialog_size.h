// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QWidget;

namespace qs {

/// Gives a dialog its first size, in font units (0: as its contents wish), within the screen that it comes up on.
void setDialogSize(QWidget& dialog, int width, int height);

/// Makes a window that is not shown yet smaller where the screen has no room for it and its frame.
void fitIntoScreen(QWidget& window);
/// It has that room. Under Wayland nobody says how large a frame will be.
bool fitsIntoScreen(const QWidget& window);

} // namespace qs
