// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/layout/groups/name_scopes.h"
#include "core/layout/groups/repeats.h"

namespace qs {

/// Boxes at places `first` .. `end` - 1 of an order, all of a scope whose name is a number.
struct NumberedBlock {
    uint32_t scope = 0, first = 0, end = 0;
};

/// Innermost scope around boxes that follow each other.
uint32_t scopeAround(const ScopeTree& tree, const std::vector<uint32_t>& order, uint32_t first, uint32_t end);

/// Blocks beside a run that names count among its own, though they are not equal: the first layer of a transformer
/// often begins, and the last one ends, in another way. They have half as many boxes at least.
std::vector<NumberedBlock> numberedBlocks(
    const ScopeTree& tree, const std::vector<uint32_t>& order, const BlockRun& run);

} // namespace qs
