// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/fuse/unit_program.h"
#include "core/engine/plan/plan.h"

namespace qs {

/// The steps of the unit that makes a value; null when there is none with steps of its own.
inline const UnitSteps* stepsMaking(const Plan& plan, ValueId value)
{
    const NodeId by = plan.graph().value(value).producer;
    const FusedUnit* unit = by.valid() ? plan.unit(by) : nullptr;
    return unit ? unit->steps.get() : nullptr;
}

/// These codes are on another grid than the file's quantizer has.
inline bool isOnOtherGrid(const Plan& plan, ValueId codes)
{
    const UnitSteps* steps = stepsMaking(plan, codes);
    return steps && steps->otherGrid;
}

/// Made by one of several pairs in a row that are one in this plan.
inline bool isOfMergedPairs(const Plan& plan, ValueId value)
{
    const UnitSteps* steps = stepsMaking(plan, value);
    return steps && steps->ofMergedPairs;
}

} // namespace qs
