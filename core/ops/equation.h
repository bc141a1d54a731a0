// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace qs {

/// An Einsum equation over operands of known rank: a label (0, 1, ...) for each axis. The axes of an ellipsis have
/// labels of their own, aligned at the end; a label that names several axes of one operand means their diagonal.
struct Equation {
    std::vector<std::vector<int>> operands;
    std::vector<int> output;
    size_t labels = 0;
};
Result<Equation> parseEquation(const std::string& text, std::span<const size_t> ranks);

} // namespace qs
