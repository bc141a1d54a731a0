// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/tensor/tensor.h"

#include <cstdint>
#include <vector>

namespace qs {

/// Scores at a position of a prompt, and those of the token that comes next, behind its last one. `scores` [prompts,
/// positions, tokens] is plain and not empty.
std::vector<float> scoresAt(const Tensor& scores, int64_t prompt, int64_t position);
std::vector<float> lastScores(const Tensor& scores, int64_t prompt);

/// The token with the largest score, of equal ones the first.
int64_t bestToken(const std::vector<float>& scores);
std::vector<int64_t> bestTokens(const std::vector<std::vector<float>>& rows);

} // namespace qs
