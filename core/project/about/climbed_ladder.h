// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/lab/ladder.h"
#include "core/project/snapshot/snapshot.h"

namespace qs {

/// Files of values that others computed for the same samples; "" = none.
struct SavedFiles {
    std::string framework; ///< by names of the float file
    std::string device; ///< codes or reals, by names of either file
    bool any() const { return !framework.empty() || !device.empty(); }
    bool operator==(const SavedFiles&) const = default;
};

/// Of a comparison over all samples: from the framework's values to the device's, each step against the one before it.
Result<Ladder> climbedLadder(const Snapshot& snapshot, const SavedFiles& files, const WorkContext& work);
/// Sentences on saved values that neither file has.
std::vector<std::string> unknownValues(const Ladder& ladder);

} // namespace qs
