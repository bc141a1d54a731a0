// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/pairs/compare_pair.h"
#include "core/analysis/rows/comparison.h"

namespace qs {

/// Takes the rows of branches that no sample takes out of all: nothing that is measured depends on them.
std::vector<WeightRow> takeUntaken(std::vector<WeightRow>& rows);

/// Puts them back behind the others, with what is wrong with these weights by themselves.
void addUntaken(const ComparePair& pair, std::vector<WeightRow> untaken, Comparison& c);

} // namespace qs
