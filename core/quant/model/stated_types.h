// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/graph.h"

#include <vector>

namespace qs {

/// By value: whether ONNX's own type inference, which ONNX Runtime's tools rely on, knows its element type. It knows
/// nothing of what nodes of other domains make unless the file states it, nor of what takes its type from there.
std::vector<bool> statedTypes(const Graph& graph);

} // namespace qs
