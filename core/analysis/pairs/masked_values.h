// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/plan/plan.h"
#include "core/stats/histogram.h"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace qs {

/// The Softmax nodes that read a value, past nodes that move its elements or rename it; empty where anything else reads
/// it too, or it is an output.
std::vector<NodeId> softmaxReaders(const Graph& graph, ValueId value);

/// How far below every other score one has to lie to count for nothing: exp(-12) is a fortieth of a step of 16 bits.
inline constexpr double kMaskedDistance = 12;

/// Where the scores of a Softmax begin that are not masked: masks (-100, -1e4, -65504) lie below an empty stretch that
/// takes most of the range. The left edge of the bin; nothing where there is no such stretch.
std::optional<double> lowestUnmasked(const Histogram& scores);

/// Whether all that Softmax nodes read of a value lies in it row by row along its last axis, so that each sees whole
/// rows of it.
bool isReadByRows(const Plan& plan, ValueId value);

/// Whether a value is only added to scores that Softmax nodes read by rows, perhaps with other masks and biases before:
/// a mask.
bool isAddedToScores(const Plan& plan, ValueId value);

/// An element of such a mask that lets no score through, however low these are. -1e4, -65504 and -3.4e38 do the same.
bool isMasking(float x);

/// One row of scores before a Softmax, in the float model and the quantized one.
class ScoreRow {
public:
    ScoreRow(std::span<const float> x, std::span<const float> y);
    /// The Softmax makes zero of the score in the float model, and next to nothing in the other: it counts in neither.
    /// So does all of a row that holds nothing but masks.
    bool isMasked(float x, float y) const { return m_whole || (x < m_zeroX && y < m_nothingY); }

private:
    bool m_whole;
    float m_zeroX, m_nothingY; ///< scores below these
};

/// Zero in both in place of what makes no score in either, where `value` of the float model is a mask or scores that
/// Softmax nodes read by rows. `length`: of its last axis.
void blankMasked(const Plan& plan, ValueId value, size_t length, std::span<float> x, std::span<float> y);

} // namespace qs
