// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/files/file_identity.h"
#include "core/project/files/project_file.h"

#include <QString>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace qs {

/// A recipe of a quantized file that is read anew, and what the file said before.
struct Reread {
    Recipe edited, base;
};

/// Files that are being opened, and what goes with them.
struct Opening {
    Inputs files; ///< without a recipe
    Recipe recipe; ///< to go on from
    RecipeBase base;
    bool otherModels = false; ///< than those that are open: recipe and runs begin anew
    bool anew = false; ///< what was read before is read again, and no earlier numbers hold
    bool rereads = false; ///< the recipe of the quantized file, too; edits of it are done to what it is now
    std::optional<size_t> former; ///< its number among what was open before (Session::former)
    bool asGiven = false; ///< although the float model is quantized and the quantized one is not
    std::vector<Issue> refused; ///< files that were given, too, and cannot be opened
    std::optional<Issue> withoutRecipe; ///< the files are open, and this kept the recipe from being applied to them
    bool presetFits = true; ///< as of OpenFiles
    std::vector<std::string> otherwise {}; ///< as of OpenFiles
    bool editedMeanwhile = false; ///< an edit was undone, or done again, of what is open until then
    // Of a project:
    RunTree runs;
    std::map<std::string, FileMark> marks;
    QString project; ///< its path; empty: none
    std::string projectHash; ///< of the file, as it was read
    QString layout;
    std::vector<Issue> changed; ///< files that are not what they were when it was saved
    std::optional<Reread> reread; ///< one of them is the quantized one: edits are done to the recipe that it has now
    // Of work that was kept:
    bool unsaved = false; ///< it is in no project file
    QString recovered; ///< the file it was kept in; empty: none
    SavedSteps steps;
};

/// Files that are open.
struct OpenFiles {
    Inputs inputs; ///< without a recipe
    std::map<std::string, FileMark> marks; ///< as far as they were read for a project
    QString project; ///< file that the work was opened from or saved to; empty: none
    std::string projectHash; ///< of that file, as it was then
    bool presetFits = true; ///< without a quantized file: the recipe that nobody chose could be applied
    /// What the quantized file has and the recipe that was read from it does not make (ReadBack::otherwise).
    std::vector<std::string> otherwise {};
    bool toldOtherwise = false; ///< when the first numbers of that recipe were shown
    std::vector<std::optional<FileStamp>> ranges {}; ///< of what recipes are calibrated with
};

} // namespace qs
