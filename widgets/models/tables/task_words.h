// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/rows/comparison.h"

#include <QString>

/// What outputs are for, in the window's words.
namespace qs {

QString taskChoiceText(const TaskChoice& choice); ///< "classes", "boxes, YOLOv8"
QString taskRowText(const TaskRow& task); ///< the same, and whether the user said so
/// What its agreement is of: "Top-1 agreement", "Mean IoU of masks".
QString agreementName(const TaskRow& task);
QString agreementText(const Number& agreement, TaskKind kind); ///< "98.4 %", "0.91"
QString agreementText(const TaskRow& task);
/// What stands behind the agreement, a line each; empty where it says all.
QString taskDetails(const TaskRow& task);
/// "no boxes above 0.25 in either"
QString noBoxesText(const TaskRow& task);
/// What is not the same in one sample: "from position 12", "1 missed, 2 extra". Empty: nothing, or nothing more to say.
QString sampleDifference(const TaskRow& task, const TaskSample& sample);

/// The first output with a task that samples are told by; null: there is none.
const OutputRow* tellingOutput(const Comparison& comparison);
bool hasClasses(const Comparison& comparison); ///< one for each sample
bool hasOtherTask(const Comparison& comparison); ///< samples are told by positions, masks or boxes

} // namespace qs
