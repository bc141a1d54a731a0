// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/graph.h"

#include <QString>

namespace qs {

/// "iteration 2 of loop_1 (Loop); in the function pkg:Gelu, called by gelu_3"; "" for a node of the file.
QString derivationText(const Node& node);
/// A line for each node that a fused one stands for, with the module and the line that it came from; else "".
QString fusedSourcesText(const Node& node);

} // namespace qs
