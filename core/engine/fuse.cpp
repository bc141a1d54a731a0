// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/fuse.h"

#include "core/engine/fuse/integer_units.h"

namespace qs {

std::vector<FusedUnit> fuseUnits(const Plan& plan, const PlanOptions& options)
{
    if (options.profile != ArithmeticProfile::Simulated)
        return integerUnits(plan, options);
    return {};
}

} // namespace qs
