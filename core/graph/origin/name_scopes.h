// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// The scopes in a node's name, outermost first, without the name's last part, which is the node itself:
/// "/encoder/layer.3/attn/MatMul" gives encoder, layer, 3, attn. Slashes separate, and dots within a part or where
/// there are no slashes. Understood are the repeated prefixes of PyTorch ("/layer1/layer1.0/conv1/Conv": layer1, 0,
/// conv1), TorchScript's classes ("Net::/Block::body/Conv2d[0]/Conv") and names of fused nodes joined by ';'.
std::vector<std::string> nameScopes(std::string_view name);

/// The parts of a dotted path ("layers.3.attn"), without those that are empty.
std::vector<std::string> dottedParts(std::string_view path);

} // namespace qs
