// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/match/graph/canonical.h"

namespace qs {

/// Others read what an activation reads, and nothing that reads what it makes has a like among what reads `root` in the
/// other file, the partner of its input: it is a part of what that file does in one step (PRelu), which no range stands
/// for and which was not left out.
bool isPartOfStep(const CanonicalGraph& own, NodeId activation, const CanonicalGraph& other, ValueId root);

} // namespace qs
