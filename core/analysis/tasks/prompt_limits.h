// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/tokens/checked_prompts.h"
#include "core/graph/graph.h"

namespace qs {

/// What the graph has room for, by its inputs that data give (`inputs`, in their order): rows of the tables that
/// integers choose from, and of the caches of cosines that tell positions apart.
PromptLimits promptLimits(const Graph& graph, const std::vector<InputSpec>& inputs);

} // namespace qs
