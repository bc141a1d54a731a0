// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/constants.h"
#include "core/ops/op.h"

#include <functional>
#include <optional>

namespace qs {

/// What is known of a value of the graph: its type, its sizes, and the value itself where it is constant.
using KnownFact = std::function<Fact(ValueId)>;

/// Why the scales, zero points and codes that the node reads cannot be any: missing, empty, of a type that is none of
/// codes, as many as fit nothing. nullopt where they can, for other operators, and for what only data will show.
/// Whoever reads parameters of quantization from a file asks this first, and does not ask again.
std::optional<Issue> quantizationFault(const Node& node, const KnownFact& known);

/// The axis along which the scales of a DequantizeLinear would fit the codes, where they do not along its own.
std::optional<int64_t> fittingAxis(const Node& node, const KnownFact& known);

/// By what the file stores and declares, and by `constants`.
KnownFact knownFrom(const Graph& graph, const ConstantLookup& constants);

} // namespace qs
