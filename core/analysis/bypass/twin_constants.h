// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/plan/plan.h"
#include "core/tensor/quant_params.h"

#include <string>

namespace qs {

/// The float model's constant that stored codes were made of, where no pair tells of it: an optimizer may have given
/// them another reader. Of those of its shape that are within half a step in every element and close to it as a whole
/// the one of the same name, else the closest; null where there is none. Few elements are alike by chance: then the
/// name has to tell it. `name`: of the codes.
const Tensor* twinConstant(
    const Plan& floatPlan, const std::string& name, const Tensor& codes, const QuantParams& params);

} // namespace qs
