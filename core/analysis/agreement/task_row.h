// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/measure/number.h"
#include "core/analysis/tasks/boxes.h"
#include "core/analysis/tasks/part_counts.h"
#include "core/analysis/tasks/token_inputs.h"

#include <string>
#include <vector>

namespace qs {

/// What an output's task says of one sample.
struct TaskSample {
    Number agreement; ///< as TaskRow's, of this sample alone
    Number firstDifference; ///< sequences: the first position that has another class; empty: none has
    BoxSums boxes;
    bool differs = false; ///< another class, a position of another class, a box without its counterpart
};

/// What an output is for, and how well the quantized model still does it.
struct TaskRow {
    TaskChoice what;
    bool told = false; ///< by the user; else recognized
    ScoredToken scored = ScoredToken::None; ///< sequences: which token is chosen at a position
    std::string measuredAt; ///< boxes that several outputs describe: the output that has the numbers; empty: this one
    /// The one number, 0 to 1: share of samples with the same class, of positions with the same class; mean IoU of
    /// masks; share of both models' boxes that have a counterpart. Empty: nothing to tell.
    Number agreement;
    size_t differing = 0; ///< samples that differ; not counted for masks
    double parts = 0; ///< positions or pixels, over all samples
    Number partAgreement; ///< share of them with the same class
    Number commonStart; ///< sequences: mean number of positions before the first one that differs
    PartCounts counts; ///< sequences: by position; masks: by class, pixels in either mask and in both
    BoxSums boxes;
    BoxThresholds thresholds; ///< of boxes
    std::vector<TaskSample> samples; ///< one a sample; empty for values
    Number matchedShare() const; ///< of the float model's boxes
    Number meanOverlap() const; ///< IoU of matched boxes
    Number confidenceDifference() const; ///< mean of the absolute values, of matched boxes
};
/// Of a part of an output: share that agrees; empty where it does not occur.
Number shareOf(const PartCounts& counts, size_t part);

} // namespace qs
