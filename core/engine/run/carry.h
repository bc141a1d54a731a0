// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/run/execution.h"

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

/// The state of one model over a row of samples.
class CarriedState {
public:
    CarriedState(std::shared_ptr<const Plan> plan, std::vector<CarryLink> links);
    bool carries(ValueId output) const;
    /// What to bind: the state for carried inputs, the next tensor of `data` for each of the others.
    std::vector<Tensor> inputs(std::span<const Tensor> data) const;
    /// Takes the carried outputs of a finished execution, which must still hold them.
    void keep(const Execution& execution);

private:
    std::shared_ptr<const Plan> m_plan;
    std::vector<CarryLink> m_links;
    std::vector<Tensor> m_state; ///< by link
};

} // namespace qs
