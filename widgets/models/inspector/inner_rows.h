// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/snapshot/snapshot.h"
#include "widgets/models/base/place.h"
#include "widgets/models/inspector/inspector_row_list.h"

namespace qs {

/// The inspector's rows on a node in the body of an If, Loop or Scan.
void addInnerNode(InspectorRowList& rows, const LoadedModel& model, const InnerPlace& inner);
/// Rows of Comparison::weights that are weights of that node.
std::vector<size_t> innerWeights(const Snapshot& snapshot, const LoadedModel& model, const Place& place);

} // namespace qs
