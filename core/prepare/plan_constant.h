// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/plan/plan.h"

namespace qs {

/// What the plan knows the value of this name to be for all samples; null where it depends on them or does not exist.
inline const Tensor* constantOf(const Plan& plan, const std::string& name)
{
    const ValueId id = plan.graph().findValue(name);
    return id.valid() ? plan.constant(id) : nullptr;
}

} // namespace qs
