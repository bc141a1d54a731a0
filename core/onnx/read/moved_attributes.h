// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/graph.h"

#include <string>
#include <vector>

namespace qs {

/// What nodes still have as attributes although their opset takes it as inputs: tools raise a file's opset and forget
/// them, and ONNX Runtime does not load it. One line for each operator and attribute. From the changelog of ONNX's
/// operators (https://github.com/onnx/onnx/blob/main/docs/Changelog.md).
std::vector<std::string> movedAttributes(const Graph& graph);

} // namespace qs
