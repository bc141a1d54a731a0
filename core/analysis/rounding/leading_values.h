// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/graph.h"

#include <set>

namespace qs {

/// Values of the graph that lead to this one, itself among them, by ways on which none of `agreeing` stands.
std::set<ValueId> leadingTo(const Graph& graph, ValueId value, const std::set<ValueId>& agreeing);

} // namespace qs
