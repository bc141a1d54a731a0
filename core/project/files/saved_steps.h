// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/match/alignment.h"
#include "core/quant/recipe/recipe.h"

#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

namespace qs {

/// What steps of undo change.
struct WorkState {
    Recipe recipe;
    ManualLinks links;
    bool operator==(const WorkState&) const = default;
};
using WorkStatePtr = std::shared_ptr<const WorkState>;

/// All steps of undo and redo.
struct SavedSteps {
    std::vector<WorkStatePtr> states; ///< before the first step, then after each; empty: none were kept
    std::vector<std::string> texts; ///< of the steps, one fewer than states
    size_t index = 0; ///< of the state that is the present one
    bool empty() const { return texts.empty(); }
};

/// What one state differs from the one before it, as JSON Patch, so that it is found once for all writing.
using StepPatches = std::map<std::pair<WorkStatePtr, WorkStatePtr>, std::string>;

/// Those nearest to the present state of which the patches take so many bytes at most, steps to undo before others.
SavedSteps nearestSteps(const SavedSteps& steps, size_t mostBytes, StepPatches& known);
/// The first state in full, then what each step changes. Only patches that are used stay in `known`.
std::string stepsToJson(const SavedSteps& steps, StepPatches& known);
/// An Issue where a step cannot be made.
Result<SavedSteps> stepsOf(const nlohmann::ordered_json& json);
Result<SavedSteps> stepsFromJson(const std::string& text);

} // namespace qs
