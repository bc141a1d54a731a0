// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/files/runs.h"
#include "core/quant/recipe/recipe_state.h"

#include <map>
#include <string>
#include <vector>

namespace qs {

/// Version of the project file that this build writes; older ones are read.
inline constexpr int64_t kProjectVersion = 1;

/// A file that a project speaks of, as it was when it was opened.
struct FileMark {
    uint64_t bytes = 0;
    int64_t modified = 0; ///< seconds since the epoch
    std::string hash; ///< of the content; "" of folders
    bool operator==(const FileMark&) const = default;
};

/// Everything that one piece of work consists of, apart from what the files hold.
struct Project {
    Inputs inputs; ///< files and how they are compared; `recipe` is the current one
    RecipeBase base;
    RunTree runs;
    std::string layout; ///< of the window, as it likes it
    std::map<std::string, FileMark> files; ///< by path
};

/// Fills in the marks of the files that the project names. Those whose size and time are as noted are not read again.
Status markFiles(Project& project);
/// Sentences on files that are not what they were when the project was saved.
std::vector<std::string> changedFiles(const Project& project);

/// JSON. Paths are written relative to the folder of `path` where they lie below it or beside it.
std::string projectToJson(const Project& project, const std::string& path);
Result<Project> projectFromJson(const std::string& text, const std::string& path);
/// By a temporary neighbour that is renamed.
Status writeProject(const Project& project, const std::string& path);
Result<Project> readProject(const std::string& path);

} // namespace qs
