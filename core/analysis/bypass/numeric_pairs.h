// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/pairs/compare_pair.h"
#include "core/base/work/work_context.h"

#include <vector>

namespace qs {

/// Pairs what names and structure left single by what the values are: on one or two samples, float values against
/// those of the quantized file with its quantizers bypassed. First fingerprints that do not depend on the order of the
/// elements, then element by element, in the same order or with exchanged axes. Equal values that stand in several
/// places, and those with exchanged axes (which are not compared any further), become links of the alignment. Does
/// nothing where the bypassed file cannot run. `samples`: inputs in the float graph's order.
void pairByNumbers(const ComparePair& pair, const std::vector<std::vector<Tensor>>& samples, const WorkContext& work,
    Alignment& alignment);

} // namespace qs
