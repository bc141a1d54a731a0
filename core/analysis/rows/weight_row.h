// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/rows/similarity.h"
#include "core/base/ids.h"
#include "core/match/alignment.h"
#include "core/stats/histogram.h"
#include "core/tensor/quant_params.h"
#include "core/tensor/shape.h"

#include <string>
#include <vector>

namespace qs {

/// One paired constant.
struct WeightRow {
    ValueId floatValue;
    uint32_t quantizer = 0;
    std::string name, quantizedName, node, opType;
    NodeId floatNode, quantNode;
    bool bias = false; ///< an int32 bias
    QuantParams params;
    Shape shape;
    int64_t channelAxis = 0; ///< axis of the per-channel numbers below (output channels)
    Similarity similarity;
    Number idealSqnrDb;
    std::vector<Number> channelSqnrDb;
    std::vector<double> channelAbsMax; ///< of the float weight
    Number rangeRatio; ///< largest over median channel absolute maximum
    Number clippedFraction;
    Number perTensorSqnrDb, perChannelSqnrDb; ///< what either granularity would give (symmetric int8)
    Number offByMoreThanHalfStep; ///< share of unclipped elements more than half a step away
    Number usedCodes;
    MatchMethod method = MatchMethod::Name;
    double confidence = 1;
    Histogram floatHistogram, quantHistogram;
};

} // namespace qs
