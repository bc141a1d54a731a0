// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/layout/groups/box_groups.h"

namespace qs {

std::vector<uint32_t> Grouping::around(uint32_t box) const
{
    std::vector<uint32_t> found;
    for (uint32_t g = innermost[box]; g != BoxGroup::kNone; g = groups[g].parent)
        found.push_back(g);
    return found;
}

} // namespace qs
