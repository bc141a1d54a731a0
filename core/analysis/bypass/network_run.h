// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/rounding/relative_distance.h"
#include "core/base/result.h"
#include "core/base/work/work_context.h"
#include "core/engine/plan/plan.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace qs {

/// The elements of a value of the float model, of this shape, that count: those that are no padding. Nothing where all
/// do.
using CountedElements = std::function<std::optional<ElementRuns>(ValueId value, const Shape& shape)>;

/// Inputs that both files are run on.
struct ProofSample {
    std::vector<Tensor> inputs; ///< of one sample, in the float graph's order
    size_t number = 0; ///< among all samples
    size_t samples = 1; ///< that the inputs hold
    CountedElements counted {}; ///< empty: all of all values
};

/// What becomes of a value as soon as it is made; `number` counts them, inputs first.
using OnValue = std::function<Tensor(const Tensor& value, uint32_t number)>;

/// Runs a network on one sample and returns these of its values. `inputs` of one sample, in the order of `floatPlan`'s.
/// The issue says what cannot run, or that it needs more memory than there is.
Result<std::vector<Tensor>> runNetwork(const std::shared_ptr<const Plan>& plan,
    const std::shared_ptr<const Plan>& floatPlan, const std::vector<ValueId>& values, const std::vector<Tensor>& inputs,
    const WorkContext& work, const OnValue& onValue = {});

/// The same with reals of `given` in place of what it makes itself of these values. Where one of them has another type
/// or size here, it cannot be run.
Result<std::vector<Tensor>> runNetworkFrom(const std::shared_ptr<const Plan>& plan,
    const std::shared_ptr<const Plan>& floatPlan, const std::map<ValueId, Tensor>& given,
    const std::vector<ValueId>& values, const std::vector<Tensor>& inputs, const WorkContext& work);

/// The same network with other constants, those of subgraphs included; `number` counts them.
Result<std::shared_ptr<const Plan>> withConstants(const Plan& plan, const OnValue& made);

} // namespace qs
