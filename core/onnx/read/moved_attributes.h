// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/graph.h"

#include <string>
#include <vector>

namespace qs {

/// Nodes, those of bodies included, that still have the form of an older opset than the file's: attributes that are
/// inputs or none by now, what is required since, operators that are gone. Tools raise a file's opset and forget them,
/// and ONNX Runtime does not load it. One line for each operator and form. From the changelog of ONNX's operators
/// (https://github.com/onnx/onnx/blob/main/docs/Changelog.md).
std::vector<std::string> movedAttributes(const Graph& graph);

} // namespace qs
