// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

namespace qs {

/// The layer of each node by the scopes in its name: "/model/layers.3" of "/model/layers.3/mlp/Mul". A layer is a scope
/// that ends with a number or is one, where there are others with another number; empty: the node is in none.
std::vector<std::string> layersOf(const std::vector<std::string>& nodes);

} // namespace qs
