// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/agreement/task_row.h"

#include <string>

/// What an output is for and how well it is still done, as text.
namespace qs::text {

std::string taskName(const TaskRow& task); ///< "classes", "boxes yolov8", "mask, told"
/// The one number with what it is of: "98.4 % of positions"; "-" where there is nothing to tell.
std::string taskAgreement(const TaskRow& task);
/// A sentence of what stands behind it: boxes missed and extra, IoU of classes, first positions that differ. Empty for
/// values, and where the one number says all.
std::string taskSentence(const TaskRow& task);
/// Of one sample: "position 12", "1 missed, 2 extra"; "" where nothing differs or there is no more to say.
std::string sampleDifference(const TaskRow& task, const TaskSample& sample);

} // namespace qs::text
