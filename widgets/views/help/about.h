// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QWidget;

/// What the program is; the window does not block.
namespace qs {

void showAbout(QWidget* parent);

} // namespace qs
