// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/lockstep/measured.h"

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

/// Both files without quantizers and with the weights that the quantized one stores.
struct BypassedPair {
    std::shared_ptr<const Plan> floatPlan, quantPlan;
};
/// For files with other weights, as training after the export leaves them: the float model takes over every constant of
/// the quantized file, normalization behind a convolution is folded into it on both sides. Nothing where a constant of
/// the float model has no counterpart.
std::optional<BypassedPair> bypassWithStoredWeights(const ComparePair& pair, const std::vector<PairPlan>& pairs);

} // namespace qs
