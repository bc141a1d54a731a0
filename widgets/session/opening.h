// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/files/project_file.h"
#include "widgets/session/session.h"

#include <QString>

#include <map>
#include <string>
#include <vector>

namespace qs {

/// Files that are being opened, and what goes with them.
struct Session::Opening {
    Inputs files; ///< without a recipe
    Recipe recipe; ///< to go on from
    RecipeBase base;
    bool otherModels = false; ///< than those that are open: recipe and runs begin anew
    // Of a project:
    RunTree runs;
    std::map<std::string, FileMark> marks;
    QString project; ///< its path; empty: none
    QString layout;
    std::vector<std::string> warnings;
};

} // namespace qs
