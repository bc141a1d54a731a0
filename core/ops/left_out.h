// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/graph.h"

#include <span>
#include <string_view>

namespace qs {

/// An operator that is known and left out on purpose.
struct LeftOutOperator {
    std::string_view domain, type;
    std::string_view why; ///< ends the sentence "the operator ... is not supported: "
    std::string_view remedy;
};

std::span<const LeftOutOperator> leftOutOperators();
/// Null for all others.
const LeftOutOperator* leftOut(const Node& node);

} // namespace qs
