// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/measure/moved_factors.h"
#include "core/analysis/measure/weight_change.h"
#include "core/analysis/measure/weight_order.h"
#include "core/analysis/rows/other_numbers.h"
#include "core/analysis/rows/similarity.h"
#include "core/base/ids.h"
#include "core/match/alignment.h"
#include "core/stats/histogram.h"
#include "core/tensor/quant_params.h"
#include "core/tensor/shape.h"

#include <cmath>
#include <optional>
#include <string>
#include <vector>

namespace qs {

/// SQNR of a weight with finer scales or more bits, dB; measured where its own type leaves it coarse.
struct FinerWeights {
    Number blocks128, blocks32; ///< its own type, in blocks along the axis that sums run over
    Number oneMoreBit; ///< its own granularity
    Number eightBits; ///< its own granularity, symmetric int8
    Number eightBitsPerChannel;
};

/// Scales found anew, each for the elements that it has, against those that are stored.
struct ScalesAnew {
    Number sqnrDb; ///< what the weight would keep with them, in its own type
    double wideShare = 0, wideFactor = 1; ///< of the stored ones that are clearly larger: how many of all, median ratio
    double narrowShare = 0, narrowFactor = 1; ///< the same of those that are clearly smaller
    std::optional<CodeRange> used; ///< lowest and highest stored code, where all have one zero point
};

/// One paired constant.
struct WeightRow {
    ValueId floatValue; ///< invalid in the body of an If, Loop or Scan; `floatNode` is that node then
    uint32_t quantizer = 0;
    std::string name, quantizedName, node, opType;
    std::string untaken; ///< the branch of an If that it is in, where no sample takes it; the nodes are invalid then
    NodeId floatNode, quantNode;
    bool bias = false; ///< an int32 bias
    bool added = false; ///< a bias of any type, also what an Add adds by channel
    QuantParams params; ///< as stored
    bool turned = false; ///< the codes of a matrix lie with its axes exchanged, as MatMulNBits has them
    Shape shape;
    bool part = false; ///< the quantized file keeps it in one constant with others
    int64_t channelAxis = 0; ///< axis of the per-channel numbers below (output channels)
    Similarity similarity;
    Number idealSqnrDb;
    std::vector<Number> channelSqnrDb;
    std::vector<double> channelAbsMax; ///< of the float weight
    Number rangeRatio; ///< largest over median channel absolute maximum
    Number clippedFraction;
    Number perTensorSqnrDb, perChannelSqnrDb; ///< what either granularity would give, in its own type and bits
    std::optional<FinerWeights> finer; ///< below kFinerWeightsDb
    std::optional<ScalesAnew> anew; ///< of integer codes of at most 8 bits
    Number offByMoreThanHalfStep; ///< share of unclipped elements more than half a step away
    Number mostStepsOff; ///< of these, the furthest one; integers
    std::optional<WeightChange> change; ///< where elements are, and one simple change explains them
    std::optional<OtherRows> otherRows; ///< where they are those of a few rows or columns alone
    std::optional<WeightOrder> order; ///< where it is another weight, and one of the float model's explains it
    size_t lostScales = 0; ///< that are zero for elements which are none
    size_t lostChannels = 0; ///< with such a scale
    std::optional<ChannelFactors> factors; ///< where elements are, and factors of channels explain them
    bool equalized = false; ///< those of the layers around take these factors away again
    Number usedCodes;
    MatchMethod method = MatchMethod::Name;
    double confidence = 1;
    Histogram floatHistogram, quantHistogram;
    std::optional<OtherNumbers> other; ///< of the second quantized model
};

/// Noise power of 1 % of the weight's: below it rounding a weight shows at the output.
inline constexpr double kCoarseWeightDb = 20;
inline constexpr double kFinerWeightsDb = 25; ///< below it finer ways are tried

/// Share of a weight's elements off by more than rounding does, from which on it is another weight.
inline constexpr double kDifferingShare = 0.001;
/// No element is further off than rounding takes weights that had been rounded to steps a fifth as large before.
inline bool isNearlyRounded(const WeightRow& row)
{
    constexpr double kTwoRoundings = 0.6; // steps
    return row.mostStepsOff && *row.mostStepsOff <= kTwoRoundings;
}
inline bool isOtherWeight(const WeightRow& row)
{
    return row.offByMoreThanHalfStep.value_or(0) > kDifferingShare && !isNearlyRounded(row);
}

/// The bits of a narrower type at whose end the codes of a bias were cut, though it is stored in more; 0: at none.
inline size_t bitsOfCutBias(const WeightRow& row)
{
    constexpr size_t kFewest = 8;
    if (!row.bias || !row.change || row.change->kind != WeightChange::Kind::Cut || !isInteger(row.params.dtype))
        return 0;
    for (size_t bits = kFewest; bits < row.params.bits(); ++bits)
        if (const double end = std::exp2(double(bits) - 1);
            row.change->value == end - 1 || row.change->value == -end || row.change->value == 1 - end)
            return bits;
    return 0;
}

/// What Gather reads in blocks has 4 bits in the files that are written here.
inline bool isTableOfBlocks(const WeightRow& row) { return row.opType == "Gather" && row.params.blockSize > 0; }

} // namespace qs
