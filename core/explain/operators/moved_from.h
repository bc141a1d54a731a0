// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/explain/operators/operation.h"

#include <optional>

namespace qs {

/// An element of an input that became one of the output as it is.
struct MovedFrom {
    size_t slot = 0;
    int64_t element = 0;
};

/// Operators that move elements and nothing else: Reshape, Transpose, Concat, Gather, Pad ...
bool isMovement(const Node& node);

/// Where the elements of such an operator's output come from: it is run on the places of its elements.
class MovedPlaces {
public:
    /// Nothing where it does not run so.
    static std::optional<MovedPlaces> of(const Operation& op);
    /// Nothing: it was padded, or it comes from no input.
    std::optional<MovedFrom> from(int64_t element) const;

private:
    Tensor m_places;
    std::vector<std::pair<size_t, int64_t>> m_firsts; ///< slot, and where its places begin
};

} // namespace qs
