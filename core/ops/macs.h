// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/ops/infer.h"

namespace qs {

/// Multiply-accumulates of one execution of the node; 0 for operators without, nullopt where sizes are unknown.
std::optional<int64_t> nodeMacs(const Node& node, const InferredFacts& facts);

} // namespace qs
