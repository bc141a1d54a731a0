// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

class QLabel;
class QWidget;

namespace qs {

class Session;

/// What the status line says of what is open: what the numbers are of, or what is still to be opened.
QString statusText(const Session& session);
/// The same after the user stopped a comparison: numbers that are shown may be those of before.
QString cancelledText(const Session& session);

/// Makes the parts of a window say what their numbers are of: plots and the status line are dimmed while the recipe has
/// moved on, and headers name the sample that was chosen. To be called when all panels are there.
void addStateNotes(QWidget& window, Session& session, QLabel& status);

} // namespace qs
