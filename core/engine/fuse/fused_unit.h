// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/ids.h"
#include "core/engine/step/lowered_node.h"

#include <vector>

namespace qs {

struct UnitSteps;

/// Several nodes run as one kernel; the values between them are not made.
struct FusedUnit {
    enum class When {
        Always, ///< the arithmetic profile says so: the inner values do not exist, whoever asks
        Unobserved, ///< equal bits, only faster: not when somebody asks for an inner value
    };
    When when = When::Unobserved;
    NodeId node; ///< names the unit to people
    std::vector<NodeId> nodes; ///< in node order; the last one makes the outputs
    std::vector<ValueId> inputs; ///< in the order that `lowered` expects; invalid = absent
    std::vector<ValueId> inner; ///< made and read by these nodes alone
    LoweredNode lowered;
    std::shared_ptr<const UnitSteps> steps = {}; ///< what it computes (unit_program.h); null where it is the nodes' own
};

} // namespace qs
