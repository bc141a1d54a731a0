// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/measure/moved_factors.h"
#include "core/analysis/pairs/compare_pair.h"
#include "core/analysis/rows/weight_row.h"

#include <vector>

namespace qs {

class PairMemory;

/// One row a pair of constants. Needs no data. Rows are missing (left empty) where the scope was cancelled on the way.
std::vector<WeightRow> compareWeights(
    const ComparePair& pair, bool histograms, size_t threads, PairMemory* memory = nullptr);

/// What is equalized across layers, told from these rows; those of bodies count for nothing.
EqualizedLayers equalizedLayers(const ComparePair& pair, const std::vector<WeightRow>& rows);

} // namespace qs
