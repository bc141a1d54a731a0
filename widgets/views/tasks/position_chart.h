// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/rows/comparison.h"
#include "widgets/plots/series.h"
#include "widgets/views/tasks/sample_text.h"

namespace qs {

/// Along the positions of a sequence: the margin of the float model's class over the next best in the float model and
/// in the quantized ones. Below 0 the class is another one. Nothing where the output is no scores by position.
LineData positionMargins(const SampleSide& a, const SampleSide* b, const ClassNames& names, const Theme& theme);
/// Over all samples: the share that has the same class at each position; `b` may be null.
LineData positionShares(const TaskRow& a, const TaskRow* b, const Theme& theme);

} // namespace qs
