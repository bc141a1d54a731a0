// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/decode/guesses.h"

#include "core/tensor/convert.h"

#include <algorithm>

namespace qs {

std::vector<float> scoresAt(const Tensor& scores, int64_t prompt, int64_t position)
{
    const int64_t tokens = scores.dim(2), begin = (prompt * scores.dim(1) + position) * tokens;
    std::vector<float> row;
    for (int64_t token = 0; token < tokens; ++token)
        row.push_back(float(elementAsDouble(scores, begin + token)));
    return row;
}

std::vector<float> lastScores(const Tensor& scores, int64_t prompt)
{
    return scoresAt(scores, prompt, scores.dim(1) - 1);
}

int64_t bestToken(const std::vector<float>& scores)
{
    return std::ranges::max_element(scores, [](float a, float b) { return a < b; }) - scores.begin();
}

std::vector<int64_t> bestTokens(const std::vector<std::vector<float>>& rows)
{
    std::vector<int64_t> ids;
    for (const auto& row : rows)
        ids.push_back(bestToken(row));
    return ids;
}

} // namespace qs
