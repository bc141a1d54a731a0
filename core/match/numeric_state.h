// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/graph.h"
#include "core/match/alignment.h"

#include <string>
#include <string_view>

namespace qs {

/// What an alignment found by numbers: it follows from data, not from the files alone.
std::string numericPairsBytes(const Alignment& alignment);
/// Puts it into the alignment of the same two files. False where it does not fit them.
bool addNumericPairs(std::string_view bytes, const Graph& floatGraph, const Graph& quantGraph, Alignment& alignment);

/// Float graph's topological order.
void sortPairs(const Graph& floatGraph, std::vector<ValuePair>& pairs);

} // namespace qs
