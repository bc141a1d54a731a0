// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/quant/model/float_model.h"
#include "core/quant/params/scale.h"
#include "core/tensor/quant_params.h"

namespace qs {

/// Parameters of a tensor quantized as a whole, from an override's scale and zero point or from a range.
/// Issue naming the tensor: the range is no number, half of a scale and zero point, a zero point outside of the type.
Result<QuantParams> paramsFromRange(
    const std::string& name, double lowest, double highest, ScaleRules rules, const QuantOverride& override);

/// Of an activation: what the recipe and its overrides say, from the calibrated range. Issue: there is none.
Result<QuantParams> activationParams(
    const FloatModel& model, const Recipe& recipe, const std::string& name, const QuantOverride& override);

enum class ConstantRole {
    Operand, ///< of Add, Concat ...: codes of the activation type
    Weight,
};
/// Which of the recipe's rules a form applies to constants.
struct ConstantRules {
    ConstantRole role = ConstantRole::Weight;
    std::optional<int64_t> axis;
    int64_t blockSize = 0;
    DType type = DType::Int8;
    bool symmetric = false;
    bool reduced = false;
};
/// Of a constant, before its scales are adjusted for a bias.
Result<QuantParams> constantParams(
    const FloatModel& model, const Recipe& recipe, const std::string& name, ConstantRules rules);

} // namespace qs
