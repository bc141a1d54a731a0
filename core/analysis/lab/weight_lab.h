// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/pairs/folded_constants.h"
#include "core/analysis/rows/weight_row.h"
#include "core/base/result.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

/// What other ways of storing a weight would give, and why: needs no data and no run.
namespace qs {

/// One way to store a weight, with the scales that the quantizer would choose for it.
struct WeightTrial {
    DType type = DType::Int8;
    bool symmetric = true;
    bool perChannel = false;
    Number sqnrDb; ///< of the whole weight
    bool exact = false;
    std::vector<Number> channelSqnrDb;
    Number worstChannelDb; ///< lowest of them
    int64_t blockSize = 0; ///< elements along the stored axis that share a scale; 0: no blocks
    bool reduced = false; ///< codes of one bit less (reduced range)
};
std::string weightTrialName(
    const WeightTrial& trial); ///< "int8 symmetric, per channel", "uint4 symmetric, blocks of 32"
/// Whether codes with these parameters are what the trial is about, if with other scales; whether of all bits the
/// weight tells (WeightLab::reduced).
bool storesLike(const WeightTrial& trial, const QuantParams& stored);

/// One output channel.
struct WeightChannel {
    double lowest = 0, highest = 0; ///< of the float weight
    double outlierShare = 0; ///< as below, of this channel alone
    Number scale; ///< as stored; null where scales lie along another axis or in blocks
    std::optional<int64_t> zeroPoint;
    Number sqnrDb; ///< as stored
};

/// The same weight after cross-layer equalization with its neighbours.
struct EqualizedTrial {
    Number rangeRatio; ///< largest over median absolute maximum of the channels
    std::vector<double> channelAbsMax;
    std::vector<WeightTrial> trials; ///< against the equalized weight
};

struct WeightLab {
    std::vector<WeightChannel> channels;
    Number rangeRatio; ///< largest over median absolute maximum of the channels
    double outlierShare = 0; ///< elements beyond half the largest magnitude: without them one bit less would do
    double bulkRange = 0; ///< share of the largest magnitude that 99 % of the elements stay below
    bool reduced = false; ///< the stored scales are those of one bit less
    /// 8 and 4 bits, symmetric and not, per tensor and per channel; of a matrix that is stored in blocks in such, too,
    /// and of one that is stored with one bit less in that form.
    std::vector<WeightTrial> trials;
    std::optional<EqualizedTrial> equalized; ///< where equalization would change this weight
};

/// What cross-layer equalization would make of the weights: by the float model's node that uses them.
struct EqualizationPreview {
    std::map<NodeId, Tensor> weights; ///< equalized ones that changed
    size_t pairs = 0; ///< of layers brought to equal ranges
    std::vector<std::string> clips; ///< Clip nodes that stand in the way
};
/// Folds BatchNormalization first, as the quantizer does. Only nodes with a quantized weight in `rows` take part.
Result<EqualizationPreview> previewEqualization(
    std::shared_ptr<const Model> floatModel, const std::vector<WeightRow>& rows);

/// Nothing for biases, vectors and weights that are not finite. `preview` may be null.
std::optional<WeightLab> weightLab(
    const FoldedConstants& constants, const WeightRow& row, const EqualizationPreview* preview = nullptr);

/// All weights of a comparison.
struct WeightLaboratory {
    std::vector<std::optional<WeightLab>> weights; ///< one a row
    EqualizationPreview preview;
    std::string note; ///< why nothing was equalized, where that failed
};
WeightLaboratory weightLaboratory(const FoldedConstants& constants, std::shared_ptr<const Model> floatModel,
    const std::vector<WeightRow>& rows, size_t threads);

} // namespace qs
