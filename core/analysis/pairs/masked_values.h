// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/graph.h"
#include "core/stats/histogram.h"

#include <optional>
#include <vector>

namespace qs {

/// The Softmax nodes that read a value, past nodes that move its elements or rename it; empty where anything else reads
/// it too, or it is an output.
std::vector<NodeId> softmaxReaders(const Graph& graph, ValueId value);

/// How far below every other score one has to lie to count for nothing: exp(-12) is a fortieth of a step of 16 bits.
inline constexpr double kMaskedDistance = 12;

/// Where the scores of a Softmax begin that are not masked: masks (-100, -1e4, -65504) lie below an empty stretch that
/// takes most of the range. The left edge of the bin; nothing where there is no such stretch.
std::optional<double> lowestUnmasked(const Histogram& scores);

} // namespace qs
