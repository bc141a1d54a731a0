// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/match/alignment.h"
#include "core/match/graph_pair.h"

#include <vector>

namespace qs {

/// Holds pairs against what both files compute: a pair of different values goes, or becomes that of the value before
/// the quantizer where this is the same; pairs made by hand stay and are noted as disputed. Confidence becomes that of
/// the evidence.
void judgePairs(const GraphPair& g, Alignment& alignment);

} // namespace qs
