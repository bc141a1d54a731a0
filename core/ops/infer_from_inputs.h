// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/ops/infer.h"

namespace qs {

/// What follows from the graph's inputs and constants by its operators alone. What a file declares of other values may
/// be left over from before it was changed: enough to show, but nothing is to be computed from it.
InferredFacts inferFromInputs(const Graph& graph);

} // namespace qs
