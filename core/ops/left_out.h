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

/// Element types that the standard allows for an operator that runs with all others.
struct LeftOutTypes {
    std::string_view domain, type, elements;
    std::string_view why;
};

/// What ONNX Runtime computes otherwise than the standard says, which is followed here.
struct RuntimeRule {
    std::string_view domain, type;
    std::string_view when, what;
};

std::span<const LeftOutOperator> leftOutOperators();
std::span<const RuntimeRule> runtimeRules();
std::span<const LeftOutTypes> leftOutTypes();
/// Null for all others.
const LeftOutOperator* leftOut(const Node& node);

} // namespace qs
