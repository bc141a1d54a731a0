// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/match/units/region.h"

namespace qs {

/// Of a Relu or Clip behind a value whose partner no such node reads. What follows is not the same for it.
bool isRemovedActivation(const MatchedFile& file, const MatchedFile& other, ValueId value);

/// Why values of a file have no partner, as far as the graphs tell. `unmatched`: those asked for; `otherSteps`: those
/// of regions that both files compute, each in steps of its own.
std::map<ValueId, WhyAlone> whyAlone(const MatchedFile& file, const MatchedFile& other,
    const std::vector<ValueId>& unmatched, const std::set<ValueId>& otherSteps);

} // namespace qs
