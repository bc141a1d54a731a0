// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/tasks/output_task.h"
#include "core/tensor/shape.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace qs {

/// Corners in the unit of the output: pixels of the input, or shares of its sides.
struct Box {
    float left = 0, top = 0, right = 0, bottom = 0;
    float score = 0; ///< confidence
    int64_t label = 0;
};

/// Intersection over union; 0 where a box has no area or a corner is no number.
double overlapOf(const Box& a, const Box& b);

/// Greedy suppression by class: best first, those that overlap a better one of their class by more than `overlap` go.
/// Of equal scores the earlier one is first. Keeps 300 at most, as detectors' own tools do.
std::vector<Box> suppressed(std::vector<Box> boxes, double overlap);

/// Which boxes of two models are one: indices of x and y.
struct BoxMatches {
    std::vector<std::pair<size_t, size_t>> same; ///< of one class
    std::vector<std::pair<size_t, size_t>> reclassed; ///< of what is left: at one place, with another class
};
/// One to one, largest IoU first (of equal ones the earlier x, then the earlier y), from `least` on.
BoxMatches matchedBoxes(std::span<const Box> x, std::span<const Box> y, double least);

/// What the boxes of one sample have in common in two models, or those of many samples.
struct BoxSums {
    double samples = 0; ///< that could be read
    double floatBoxes = 0, quantBoxes = 0;
    double matched = 0; ///< of one class and place
    double reclassed = 0; ///< of one place and two classes
    double overlap = 0; ///< sum of the IoU of matched ones
    double confidence = 0; ///< sum of their |difference of confidence|
    double missed() const { return floatBoxes - matched - reclassed; }
    double extra() const { return quantBoxes - matched - reclassed; }
    bool same() const { return matched == floatBoxes && matched == quantBoxes; }
    void merge(const BoxSums& other);
};
BoxSums boxSums(std::span<const Box> x, std::span<const Box> y, double least);

} // namespace qs
