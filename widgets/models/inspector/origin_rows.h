// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/models/inspector/inspector_row_list.h"

namespace qs {

/// The section "Origin": module, class and line of the program that the selected node came from, of which nodes of the
/// file it was made, and where a constant is stored. Nothing where the files say nothing.
void addOrigin(InspectorRowList& rows, const Snapshot& snapshot, const Place& place);

} // namespace qs
