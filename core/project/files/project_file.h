// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/files/runs.h"
#include "core/project/files/saved_steps.h"
#include "core/quant/recipe/recipe_state.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace qs {

/// Version of the project file that this build writes; older ones are read.
inline constexpr int64_t kProjectVersion = 1;

/// Of what steps of undo change, in a project that is saved: those that are further away are left out.
inline constexpr size_t kMostStepBytes = size_t(1) << 20;

/// A file that a project speaks of, as it was when it was opened.
struct FileMark {
    uint64_t bytes = 0;
    int64_t modified = 0; ///< seconds since the epoch
    std::string hash; ///< of the content; "" of folders
    bool operator==(const FileMark&) const = default;
};

/// What work that nobody has saved yet needs beside what a project holds, to go on as if nothing had happened.
struct Recovery {
    std::string project; ///< file that it was opened from, or saved to before; empty: none
    SavedSteps steps;
};

/// Everything that one piece of work consists of, apart from what the files hold.
struct Project {
    Inputs inputs; ///< files and how they are compared; `recipe` is the current one
    RecipeBase base;
    std::vector<std::string>
        otherwise; ///< what the quantized file has and the base that was read from it does not make
    RunTree runs;
    SavedSteps steps; ///< of undo; those of work that nobody saved are in `recovery`
    std::string layout; ///< of the window, as it likes it
    std::map<std::string, FileMark> files; ///< by path
    std::optional<Recovery> recovery; ///< of work that was kept and not saved; older versions pass over it
};

/// Fills in the marks of the files that the project names. Those whose size and time are as noted are not read again.
Status markFiles(Project& project);
/// The files that are not what they were when the project was saved.
std::vector<Issue> changedFiles(const Project& project);

/// JSON. Paths are written relative to the folder of `path` where they lie below it or beside it.
/// `known` patches of its steps are not found again.
std::string projectToJson(const Project& project, const std::string& path, StepPatches* known = nullptr);
Result<Project> projectFromJson(const std::string& text, const std::string& path);
/// By a temporary neighbour that is renamed.
Status writeProject(const Project& project, const std::string& path, StepPatches* known = nullptr);
Result<Project> readProject(const std::string& path);

} // namespace qs
