// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session/session.h"

class QMenu;
class QPoint;

namespace qs {

/// The window shows a dialog whenever the session asks how pictures are prepared.
void askForUndescribed(Session& session, QWidget* window);

/// Where data are open already and one set of data is dropped, shows a menu at `at`: to judge by, or to find ranges
/// with. False where there is no question.
bool askForUse(Session& session, QWidget* window, const QStringList& files, const QPoint& at);

/// Actions of the File menu on data: random ones, and how the pictures that are open are prepared.
void addDataActions(QMenu* menu, Session& session, QWidget* window);

/// Actions of the Recipe menu on the float model: inputs that are always the same, preparation as a step of its own.
void addModelActions(QMenu* menu, Session& session, QWidget* window);

} // namespace qs
