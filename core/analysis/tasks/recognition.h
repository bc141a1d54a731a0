// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/tasks/box_forms.h"
#include "core/analysis/tasks/output_task.h"
#include "core/analysis/tasks/score_kind.h"
#include "core/analysis/tasks/token_inputs.h"
#include "core/base/result.h"

#include <optional>
#include <span>
#include <vector>

namespace qs {

/// What one output is for.
struct OutputTask {
    TaskChoice what;
    bool told = false; ///< by the user
    ScoreKind scores = ScoreKind::None; ///< of classes, sequences and masks
    bool channelsLast = false; ///< of masks: MaskLayout
    bool holdsClasses = false; ///< of masks and classes: whole numbers that name them, the first one the best
    bool choices = false; ///< whole numbers that say which elements were chosen, whatever for
    bool centres = false; ///< of boxes: BoxReading
    std::optional<TokenInputs> tokens; ///< of a language model's scores of tokens
    size_t primary = 0; ///< index of the output that has the numbers: this one, but for the other parts of boxes
    BoxReading reading() const { return { what.form, centres }; }
    std::vector<size_t> parts; ///< of the primary one of boxes, in the order of boxesOf(); it is among them
};

/// What the outputs of a float model are: as the user says, else what type, operator and names make certain; what they
/// leave open is Values. Boxes may be described by several outputs together.
std::vector<OutputTask> outputTasks(
    const Plan& plan, std::span<const ValueId> outputs, const TaskChoices& choices = {});

/// Whether an output can be that, as far as its type tells.
bool canBe(const Plan& plan, std::span<const ValueId> outputs, size_t index, const TaskChoice& choice);

/// What the user says has to fit the outputs that there are.
Status checkTasks(const Plan& plan, const TaskChoices& choices);

} // namespace qs
