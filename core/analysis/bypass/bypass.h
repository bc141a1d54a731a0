// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/bypass/stored_ranges.h"
#include "core/analysis/pairs/pair_plan.h"
#include "core/analysis/rounding/precision_step.h"
#include "core/base/result.h"

#include <memory>
#include <string>
#include <vector>

namespace qs {

/// The quantized file with its quantizers taken out, under its own names.
struct Bypassed {
    std::shared_ptr<const Plan> plan;
    std::vector<std::string> own; ///< weights and biases without a float partner: dequantized ones stand in for them
};

/// Every quantizer of an activation is replaced by the activation that it stands for, every weight and bias by its
/// float partner, operators on codes (QLinear*, ConvInteger, MatMulInteger, MatMulNBits, QAttention ...) by their float
/// operators; multiplications by numbers near 1 that the float model has not (addedFactors()) are left out. It should
/// compute the float model. The issue names the node that has no float counterpart here.
Result<Bypassed> bypassQuantizers(
    const ComparePair& pair, const std::vector<PairPlan>& pairs, BypassedRanges ranges = BypassedRanges::AsPaired);

/// The same, and what has no float partner is off by about as much as rounding made it.
Result<Bypassed> bypassDisturbed(const ComparePair& pair, const std::vector<PairPlan>& pairs, BypassedRanges ranges);

/// The same as the first, with the multiplications that it leaves out.
Result<Bypassed> bypassWithFactors(const ComparePair& pair, const std::vector<PairPlan>& pairs);

/// The same as the first, and in place of constants that are no codes and other ones than in the float model (a
/// rounding without a precision) the float model's.
Result<Bypassed> bypassWithFloatConstants(
    const ComparePair& pair, const std::vector<PairPlan>& pairs, const std::vector<WeightRounding>& constants);

/// The quantized file as it is, with the same constants of the float model: those that no rounding makes of these,
/// where there are any.
Result<std::shared_ptr<const Plan>> quantizedWithFloatConstants(
    const ComparePair& pair, const std::vector<WeightRounding>& constants);

/// The quantized file without the quantizers of its activations, with all constants that it stores.
Result<Bypassed> bypassWithOwnConstants(
    const ComparePair& pair, const std::vector<PairPlan>& pairs, BypassedRanges ranges = BypassedRanges::AsPaired);

/// Name in the bypassed file of what an operator on codes computes before the activation that its range stands for.
inline std::string unboundedName(const std::string& codes) { return codes + "_unbounded"; }

} // namespace qs
