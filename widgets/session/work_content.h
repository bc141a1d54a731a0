// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/files/project_file.h"

#include <string>
#include <vector>

namespace qs {

/// What a project file holds of somebody's work: not the numbers, which are found again, nor the layout. Work that
/// differs from what was last saved would be lost.
struct WorkContent {
    struct Run {
        RunId id = 0;
        std::string name, note;
        Recipe recipe;
        bool operator==(const Run&) const = default;
    };
    Asked files; ///< without recipe and links
    Recipe recipe;
    ManualLinks links;
    std::vector<Run> runs;
    bool operator==(const WorkContent&) const = default;

    static WorkContent of(const Asked& files, const WorkState& state, const RunTree& runs);
};

} // namespace qs
