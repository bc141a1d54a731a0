// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/models/inspector/inspector_row_list.h"

namespace qs {

/// Of a selected constant or weight: where it is stored in each file, or what it was computed from.
void addStored(InspectorRowList& rows, const Snapshot& snapshot, const Place& place);

} // namespace qs
