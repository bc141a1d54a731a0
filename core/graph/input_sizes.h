// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/graph.h"

#include <optional>

namespace qs {

/// Sizes of an input as the file declares them, and where it leaves them open, as what a Concat puts behind it has
/// them: exporters name even the width of a cache of keys.
std::optional<Dims> inputSizes(const Graph& graph, ValueId input);

} // namespace qs
