// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/tensor/tensor.h"

#include <cstdint>
#include <vector>

namespace qs {

/// Scores of the token that comes next, behind the last position of a prompt. `scores` [prompts, positions, tokens] is
/// plain and not empty.
std::vector<float> lastScores(const Tensor& scores, int64_t prompt);

/// The token with the largest score, of equal ones the first.
int64_t bestToken(const std::vector<float>& scores);
std::vector<int64_t> bestTokens(const std::vector<std::vector<float>>& rows);

} // namespace qs
