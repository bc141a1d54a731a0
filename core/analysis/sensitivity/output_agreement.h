// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/measure/number.h"
#include "core/analysis/tasks/part_counts.h"
#include "core/analysis/tasks/recognition.h"
#include "core/data/data_source.h"

#include <span>
#include <vector>

namespace qs {

/// What the task of one output counts, of many samples: positions, pixels by class, or boxes.
struct AgreementCounts {
    double agreeing = 0, parts = 0; ///< positions; boxes of both models
    PartCounts classes; ///< of masks: pixels in either mask and in both
    void merge(const AgreementCounts& other);
    Number share() const; ///< as TaskRow::agreement; null where nothing was counted
};

/// One output of a run as floats, codes of classes among them.
struct OutputValues {
    std::vector<float> values;
    Shape shape;
};

/// Whether the agreement of this output, or of boxes it is a part of, needs its values, whatever their type.
bool isCounted(const OutputTask& task);

/// Of one output of the reference, x, and a variant, y, over the samples of a feed; nothing for classes and values, and
/// where the outputs cannot be read as the task says. Values of outputs that are not needed may be empty.
AgreementCounts agreementCounts(const std::vector<OutputTask>& tasks, size_t index, std::span<const OutputValues> x,
    std::span<const OutputValues> y, const Feed& feed, const BoxThresholds& limits);

} // namespace qs
