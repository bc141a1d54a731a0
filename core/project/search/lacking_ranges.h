// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/findings/remedy.h"
#include "core/project/snapshot/snapshot.h"

#include <span>
#include <vector>

namespace qs {

/// What a command has to say beside changes of a recipe that is read from the quantized file.
struct LackingRanges {
    std::vector<Remedy> ranges; ///< SetRange each
    std::vector<Remedy> constants; ///< ExcludeNode each: what alone makes parameters of one that stays float
    bool needData = false; ///< some range cannot be told so
};

/// Ranges that the recipe needs after the changes and the file does not tell: of what a node that stays float hands on
/// with the scale of its input, by that; in float8 also of what a Relu or Clip reads that stays.
LackingRanges lackingRanges(const Snapshot& snapshot, std::span<const Remedy> changes);

} // namespace qs
