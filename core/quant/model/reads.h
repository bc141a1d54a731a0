// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/graph.h"

#include <string>

namespace qs {

/// Slots of the graph's nodes, and of those in its subgraphs, that read a value of this name.
size_t readsOf(const Graph& body, const std::string& name);

} // namespace qs
