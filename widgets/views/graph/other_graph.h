// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/layout/folded_graph.h"
#include "widgets/session/session.h"

namespace qs {

/// The snapshot of a second quantized model (B); null: there is none.
SnapshotPtr otherOf(const Snapshot& snapshot);
/// A place of the first model in B, which has the same float model and rows of its own. What B does not have is left
/// out.
Place placeInOther(const Snapshot& snapshot, Place place);
/// Selects what a box of B's graph stands for, by the float value that both models compute; nothing without one.
void selectFromOther(Session& session, const FoldedGraph& graph, uint32_t box);
/// The same of one of B's values.
void selectFromOther(Session& session, ValueId value);

} // namespace qs
