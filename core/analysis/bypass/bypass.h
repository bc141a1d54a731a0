// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/pairs/pair_plan.h"

#include <memory>
#include <optional>
#include <vector>

namespace qs {

/// The quantized file with its quantizers taken out, under its own names.
struct Bypassed {
    std::shared_ptr<const Plan> plan;
    size_t ownConstants = 0; ///< weights and biases without a float partner: dequantized ones stand in for them
};

/// Every quantizer of an activation is replaced by the activation that it stands for, every weight and bias by its
/// float partner, operators on codes (QLinear*, ConvInteger, MatMulInteger, MatMulNBits, QAttention ...) by their float
/// operators. It should compute the float model. Nothing where a form has no float counterpart here.
std::optional<Bypassed> bypassQuantizers(const ComparePair& pair, const std::vector<PairPlan>& pairs);

} // namespace qs
