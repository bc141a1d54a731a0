// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/run/execution.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace qs {

/// A model's state from one sample to the next, as people give it: (OUTPUT, INPUT), an output that becomes an input.
using CarryNames = std::vector<std::pair<std::string, std::string>>;
/// Whether state comes to this input; data give the others.
bool isCarried(const CarryNames& names, const std::string& input);

/// The state of one model over a row of samples. Without names it is nothing, and any number of workers may share it.
class CarriedState {
public:
    /// Before the first sample: `initial` by input, else zeros, with 1 for sizes that the file leaves open. An Issue
    /// names the pair that this model does not have, or an initial state of another type than its input.
    static Result<CarriedState> make(
        std::shared_ptr<const Plan> plan, const CarryNames& names, const std::map<std::string, Tensor>& initial = {});
    /// Of a model that carries none.
    explicit CarriedState(std::shared_ptr<const Plan> plan)
        : m_plan(std::move(plan))
    {
    }
    const Plan& plan() const { return *m_plan; }
    bool empty() const { return m_links.empty(); }
    /// What executions must hold when they are kept.
    std::vector<ValueId> outputs() const;
    bool carries(ValueId output) const;
    /// Names of the inputs that data give, in the graph's order.
    std::vector<std::string> fed() const;
    /// What to bind: the state for carried inputs, the next tensor of `data` for each of the others.
    std::vector<Tensor> inputs(std::span<const Tensor> data) const;
    /// Takes the carried outputs of a finished execution.
    void keep(const Execution& execution);

private:
    struct Link {
        ValueId output, input;
        Tensor value;
    };
    const Link* to(ValueId input) const;
    std::shared_ptr<const Plan> m_plan;
    std::vector<Link> m_links;
};

} // namespace qs
