// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/quant/model/float_model.h"
#include "core/quant/params/made_constants.h"
#include "core/quant/weight_only/block_matrix.h"

#include <map>
#include <utility>

namespace qs {

/// Blocks of weights, by name and bits, that were found with data.
using ReadyBlocks = std::map<std::pair<std::string, int>, BlockMatrix>;

/// Where blocks come from that need not be computed anew.
struct BlockSources {
    const ReadyBlocks* ready = nullptr; ///< null: none
    MadeConstants* made = nullptr; ///< of other quantizations with the same `ready`; null: none
    size_t threads = 1;
};

/// MatMul with a constant second factor becomes MatMulNBits, or reads it through a DequantizeLinear of blocks; Gather
/// from a constant table becomes GatherBlockQuantized when the recipe names its type. The algorithm Gptq needs
/// `sources.ready`. Issues: those of blockProducts(), a table without the axis.
Status quantizeWeightsOnly(FloatModel& model, const Recipe& recipe, const BlockSources& sources);

} // namespace qs
