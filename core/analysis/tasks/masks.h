// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/tasks/part_counts.h"
#include "core/analysis/tasks/score_kind.h"
#include "core/tensor/shape.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace qs {

/// How one sample's pixels lie in a run's output.
struct MaskLayout {
    size_t classes = 1; ///< scores a pixel; 1 = one score, or the class itself
    size_t pixels = 0;
    bool channelsLast = false;
    bool holdsClasses = false; ///< whole numbers: the classes themselves
};
/// Of an output of this shape that holds so many samples: [N, C, H, W], or [N, H, W, C] where `channelsLast`; whole
/// numbers also [N, H, W]. Nothing for others.
std::optional<MaskLayout> maskLayout(const Shape& shape, size_t samples, bool channelsLast, bool holdsClasses);

/// The class of each pixel of one sample. One score a pixel: 1 where it is above `threshold`, else 0.
std::vector<int64_t> maskOf(const float* v, const MaskLayout& layout, float threshold);

/// What parts one score into "is it" and "is it not": 0.5 of probabilities, by operator or where all of the float
/// model's values lie in 0..1, else 0 (logits).
float maskThreshold(const float* floatValues, size_t count, ScoreKind kind);

/// What the masks of one sample have in common in two models.
struct MaskSums {
    double pixels = 0;
    double agreeing = 0; ///< of these: the same class
    double overlap = -1; ///< mean IoU of the classes that occur; -1: none does
};
/// `counts` gets pixels in either mask (all) and in both (same) by class. With one score the background is no class.
MaskSums maskSums(const std::vector<int64_t>& x, const std::vector<int64_t>& y, bool background, PartCounts& counts);

} // namespace qs
