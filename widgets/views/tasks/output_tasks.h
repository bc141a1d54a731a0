// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/views/base/table_panel.h"

class QMenu;

namespace qs {

/// Lets the user say what the chosen output is, from a button in the panel's header and from the menu of its rows, and
/// set the thresholds of boxes.
void addTaskMenu(TablePanel& outputs, Session& session);

/// The choices for one output of the snapshot that is shown: what it is by itself, then what its type allows.
void fillTaskMenu(QMenu& menu, Session& session, size_t output);

} // namespace qs
