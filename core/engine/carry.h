// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/plan.h"

#include <string>
#include <utility>
#include <vector>

namespace qs {

/// A model's state from one sample to the next: an output that becomes an input.
struct CarryLink {
    ValueId output;
    ValueId input;
};

/// Looks the names (OUTPUT, INPUT) up; an Issue names the pair that this model does not have.
Result<std::vector<CarryLink>> findCarry(
    const Plan& plan, const std::vector<std::pair<std::string, std::string>>& names);

/// State before the first sample: zeros, with 1 for sizes that the file leaves open.
Tensor initialState(const Plan& plan, const CarryLink& link);

} // namespace qs
