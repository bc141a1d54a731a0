// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/constants.h"
#include "core/graph/graph.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace qs {

/// A constant that is made of others by moving elements alone: where each of its elements stands there.
struct MovedElements {
    std::vector<ValueId> sources; ///< in the order in which they were met
    std::vector<uint32_t> source; ///< by element in plain order: index in `sources`
    std::vector<uint32_t> element; ///< by element: its place in that source, in plain order
    bool inPlace() const; ///< one source, all of its elements in their order
};

/// Follows the constant `id` back through Transpose, Reshape, Flatten, Squeeze, Unsqueeze, Identity, Dropout, Cast,
/// Concat, Split, Slice, Gather and Expand to values that `isSource` takes. Nothing where another operator or an
/// initializer that is none of these has a part in it, or where `id` is no constant.
std::optional<MovedElements> movedElements(
    const Graph& graph, const ConstantLookup& constants, ValueId id, const std::function<bool(ValueId)>& isSource);

} // namespace qs
