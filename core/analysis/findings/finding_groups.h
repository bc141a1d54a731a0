// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/findings/finding.h"

#include <span>
#include <vector>

namespace qs {

/// Findings that say the same of several places: those of one rule, severity and kind of remedy, which tell of one
/// place each. Findings with several places stand alone.
struct FindingGroup {
    std::vector<size_t> members; ///< indices in the order of the findings: the first is the worst
};
/// By their worst members; each finding is in one group.
std::vector<FindingGroup> findingGroups(std::span<const Finding> findings);

/// All that applying the remedies of a group changes, each change once.
std::vector<Remedy> changesOf(std::span<const Finding> findings, const FindingGroup& group);

} // namespace qs
