// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/match/graph/canonical.h"

#include <optional>

namespace qs {

/// What the result of a product is for.
enum class ProductRole {
    Query, ///< the first one of a product of two values; and so on
    Key, ///< the second
    Value, ///< the second, behind a Softmax
    Gate, ///< through an activation, to be multiplied by another one
    Gated, ///< that other one
};
/// Nothing where it has other uses before, or none of these.
std::optional<ProductRole> productRole(const CanonicalGraph& g, NodeId product);
/// What a product adds itself, or what is added to its result alone right behind it; invalid where this is nothing.
ValueId addedBias(const CanonicalGraph& g, NodeId product);

/// Constants of both files that differ by no more than rounding a bias explains.
bool areOneBias(const CanonicalGraph& f, ValueId ofFloat, const CanonicalGraph& q, ValueId ofQuant);

/// What their results are for, and what is added to them, say of two matrix products that they are one (true), or that
/// they are not (false), whatever their weights are: these may stand in each other's place.
std::optional<bool> standForEachOther(const CanonicalGraph& f, NodeId a, const CanonicalGraph& q, NodeId b);
/// The same of what they make: it is known that they are not one.
bool areCrossed(const CanonicalGraph& f, ValueId ofFloat, const CanonicalGraph& q, ValueId root);

} // namespace qs
