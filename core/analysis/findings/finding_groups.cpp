// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/findings/finding_groups.h"

#include <algorithm>

namespace qs {

namespace {

bool standsAlone(const Finding& f) { return !f.places.empty() || !f.together.empty() || (f.node + f.tensor).empty(); }

bool alike(const Finding& a, const Finding& b)
{
    return a.rule == b.rule && a.severity == b.severity && a.change.kind == b.change.kind && !standsAlone(a)
        && !standsAlone(b);
}

} // namespace

std::vector<FindingGroup> findingGroups(std::span<const Finding> findings)
{
    std::vector<FindingGroup> groups;
    for (size_t i = 0; i < findings.size(); ++i) {
        const auto known = std::ranges::find_if(
            groups, [&](const FindingGroup& group) { return alike(findings[group.members.front()], findings[i]); });
        if (known == groups.end())
            groups.push_back({ { i } });
        else
            known->members.push_back(i);
    }
    return groups;
}

std::vector<Remedy> changesOf(std::span<const Finding> findings, const FindingGroup& group)
{
    std::vector<Remedy> changes;
    for (const size_t member : group.members)
        for (const Remedy& change : changesOf(findings[member]))
            if (std::ranges::find(changes, change) == changes.end())
                changes.push_back(change);
    return changes;
}

} // namespace qs
