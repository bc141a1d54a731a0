// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/pairs/compare_pair.h"
#include "core/analysis/tasks/recognition.h"
#include "core/kernels/statistics/pair_sums.h"
#include "core/tensor/quant_params.h"

#include <optional>
#include <string>
#include <vector>

namespace qs {

/// What an attention keeps as codes: the node offers keys, and behind them values, as they are before.
struct CodedCache {
    NodeId node;
    bool values = false; ///< else keys
};

/// A pair with everything that measuring it needs, looked up once.
struct PairPlan {
    ValuePair pair;
    ValueId x; ///< float model's value
    ValueId y; ///< quantized model's value
    ValueId p; ///< value before the quantizer (QDQ); invalid = none
    NodeId unrounded; ///< node that offers the value before rounding (QLinear*); invalid = none
    NodeId beforeRounding; ///< compare x with this node's value before rounding instead of y
    ValueId codes; ///< integer codes to count; invalid = none
    ValueId dynamicScale, dynamicZero; ///< computed parameters of a dynamic quantizer
    QuantParams params; ///< empty scales when dynamic or without
    /// y is a cache that was codes: `params` has one scale, or one for each head and channel and no axis.
    std::optional<CodedCache> cache {};
    bool ownQuantizer = false; ///< y is made by a quantizer whose input is p
    PairActivation activation;
    std::string activationName; ///< "Relu", "Clip", ""
    /// Bounds of a Relu or Clip of the float model that is neither a node here nor done by the quantizer's range, as
    /// far as the graphs tell; open where there is none.
    PairActivation lost;
    NodeId lostNode; ///< that node of the float model
    /// Only Softmax reads x, and the range is wide enough for a mask: where that ends is looked for in the histograms.
    bool maskedScores = false;
    PairActivation behind; ///< what the nodes that read y let pass, where each is a Relu or Clip; open else
    bool addedMask = false; ///< x is only added to such scores, and y has no quantizer: what masks in both is the same
    std::shared_ptr<const ValueFactors> factors {}; ///< by which x is multiplied; null: none
    bool scoreRows = false; ///< only Softmax reads x, in rows along its last axis: masked elements count for nothing
    /// What is told of it asks for histograms, also where nobody sees them.
    bool needsHistograms() const
    {
        return maskedScores || (behind.bounded() && params.perTensor() && isInteger(params.dtype));
    }
};

/// All pairs of a comparison.
std::vector<PairPlan> planPairs(const ComparePair& pair);

/// A graph output of both files.
struct OutputPair {
    std::string name, quantizedName;
    ValueId x, y;
    std::optional<uint32_t> quantizer; ///< when y holds codes
    OutputTask task; ///< its indices are those of the list of pairs
};
std::vector<OutputPair> pairOutputs(const ComparePair& pair);

} // namespace qs
