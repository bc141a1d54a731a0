// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/tasks/part_counts.h"
#include "core/analysis/tasks/score_kind.h"
#include "core/analysis/tasks/token_inputs.h"
#include "core/tensor/shape.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace qs {

/// What scores name of which one is no number: it is never right, and nothing agrees with it.
inline constexpr int64_t kNoClass = -2;

/// The class that scores name: the index of the largest, the first of equal ones; kNoClass.
inline int64_t argmax(const float* v, size_t n)
{
    size_t best = 0;
    for (size_t i = 0; i < n; ++i) {
        if (std::isnan(v[i]))
            return kNoClass;
        if (v[i] > v[best])
            best = i;
    }
    return static_cast<int64_t>(best);
}

/// How far element `index` stands above all others; NaN for kNoClass, and where one is NaN.
double marginOf(const float* v, size_t n, int64_t index);

/// An output of one sample as rows of scores, one a position: [batch, classes] has one, [batch, positions, classes] one
/// for each position.
struct ScoreRows {
    size_t positions = 1, classes = 1;
};
/// Of an output of this shape that holds so many samples along its first axis. Axes of one element are nothing, but the
/// last of three that is one leaves the one before it. Nothing where there is one score only, and for more than
/// [batch, positions, classes]: pictures of features, caches of attention.
std::optional<ScoreRows> scoreRows(const Shape& shape, size_t samples);
/// Of one sample, as far as the type of an output tells: sizes that it leaves open count as 2.
std::optional<ScoreRows> scoreRows(const Dims& dims);

/// Of whole numbers that name classes, the best one first: one position, as many classes as are named. Nothing where
/// they are several a sample in another order than that.
std::optional<ScoreRows> chosenRows(const Shape& shape, size_t samples);

/// What the scores of one sample have in common in two models, x and y.
struct ScoreSums {
    double positions = 0; ///< that have scores
    double agreeing = 0; ///< of these: the same class
    double amongFive = 0; ///< of these: the class of x is among the five best of y
    double distributions = 0; ///< positions of which both are finite probabilities
    double divergence = 0; ///< sum over these of KL(x || y) = Σ p·(log p − log q), natural logarithm
    double largestDivergence = 0;
    double commonStart = 0; ///< positions before the first one that differs, summed over samples
    void merge(const ScoreSums& other);
};
/// One position of a prompt, natural logarithms; NaN: there is none.
struct TokenScores {
    double floatLoss = NAN, quantLoss = NAN; ///< −log p(next token) of x and of y; none where the prompt ends
    double divergence = NAN; ///< KL(x || y)
    double flipped = NAN; ///< 1 where x and y guess different tokens, else 0
};

/// What else is told of the positions of one sample. Each may be null.
struct PositionScores {
    PartCounts* byPosition = nullptr; ///< gets which of them agree
    const PromptTokens* prompt = nullptr; ///< of a language model; its padding counts nowhere
    std::vector<TokenScores>* tokens = nullptr; ///< gets one a position of the prompt
};
/// Positions one after the other. Probabilities below 1e-12 count as 1e-12 where their logarithm is taken.
/// The same of classes that are named, the best one first; with fewer than five all of them count as the five best.
ScoreSums chosenSums(const float* x, const float* y, const ScoreRows& rows);
ScoreSums scoreSums(
    const float* x, const float* y, const ScoreRows& rows, ScoreKind kind, const PositionScores& more = {});

} // namespace qs
