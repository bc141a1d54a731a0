// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/plan/plan.h"
#include "core/tensor/quant_params.h"

#include <optional>
#include <string>
#include <vector>

namespace qs {

/// Name in the bypassed file of the constant that stands in for what is dequantized or read under this name.
inline std::string realsName(const std::string& stored) { return stored + "_float"; }

/// Elements of a constant that are not alike by chance.
inline constexpr int64_t kFewestAlike = 16;

/// The float model's constant that stored codes were made of, where no pair tells of it: an optimizer may have given
/// them another reader. Of those of its shape that are within half a step in every element and close to it as a whole
/// the one of the same name, else the closest; null where there is none. Few elements are alike by chance: then the
/// name has to tell it. `name`: of the codes.
const Tensor* twinConstant(
    const Plan& floatPlan, const std::string& name, const Tensor& codes, const QuantParams& params);

/// Of the constants that stand in for these stored ones in two bypassed files the largest distance, relatively; nothing
/// where one of them is not small.
std::optional<double> distanceOfSmall(const Plan& held, const Plan& moved, const std::vector<std::string>& stored);

} // namespace qs
