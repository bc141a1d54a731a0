// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/graph.h"

#include <string>
#include <vector>

namespace qs {

/// A module of the exported program around a node.
struct ModuleLevel {
    std::string path; ///< "block.0.conv1"; "" for the model itself
    std::string type; ///< "torch.nn.modules.conv.Conv2d"; "" where the file does not say
    bool operator==(const ModuleLevel&) const = default;
};

/// What PyTorch's exporter (torch.onnx.export with dynamo) says of the modules around a node:
/// pkg.torch.onnx.name_scopes and pkg.torch.onnx.class_hierarchy, lists as Python writes them, outermost first, whose
/// last entries are the node of the exported program; or "namespace", "PATH: TYPE/PATH: TYPE". Texts are bounded and
/// can be shown.
struct ModulePath {
    std::vector<ModuleLevel> levels; ///< outermost first; empty where the metadata say nothing
    std::string operation; ///< "aten.conv2d.default"
};
ModulePath modulePathOf(const Metadata& metadata);

/// Scopes that a node lies in, outermost first: those of its name, or else the parts of the path of its module. Where
/// the file says nothing of the node, what it says of the call that the node comes from counts.
std::vector<std::string> moduleScopes(const Node& node);

} // namespace qs
