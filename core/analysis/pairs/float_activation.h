// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/pairs/compare_pair.h"
#include "core/kernels/statistics/pair_sums.h"
#include "core/tensor/quant_params.h"

#include <string>

namespace qs {

/// The quantizer that made a pair's value, if it has its own.
struct OwnQuantizer {
    ValueId before; ///< the value that it quantizes; invalid: inside an operator on codes
    const QuantParams* params = nullptr; ///< null: there is no such quantizer; no scales: dynamic
};

/// The Relu or Clip that makes a value of the float model and has no node in the quantized one.
struct FloatActivation {
    PairActivation bounds; ///< open: there is none, or other nodes stay within them
    std::string name; ///< "Relu", "Clip", ""
    NodeId node; ///< of the float model
    bool lost = false; ///< the quantizer's range does not do its work
};

/// `x`: the float model's value; `y`: its partner.
FloatActivation floatActivation(const ComparePair& pair, ValueId x, const OwnQuantizer& quantizer, ValueId y);

/// What the nodes that read a value of the quantized model let pass of it, where each of them is a Relu or Clip.
PairActivation activationBehind(const ComparePair& pair, ValueId y);

} // namespace qs
