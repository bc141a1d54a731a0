// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/pairs/compare_pair.h"

namespace qs {

/// What is taken as the float model holds quantizers itself: its values are no float network's, and what an activation
/// does may lie in its quantizers alone.
bool isReferenceQuantized(const ComparePair& pair);

} // namespace qs
