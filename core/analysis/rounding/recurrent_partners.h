// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/pairs/compare_pair.h"

#include <utility>
#include <vector>

namespace qs {

/// LSTM, GRU and RNN of both files that stand for each other though what they make has no partner, as where their
/// weights are others and no name tells it: what they read does, or they are the only ones of their sizes that are
/// left. Float node and quantized node.
std::vector<std::pair<NodeId, NodeId>> recurrentPartners(const ComparePair& pair);

} // namespace qs
