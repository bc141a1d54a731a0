// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/quant/model/float_model.h"
#include "core/quant/weight_only/block_matrix.h"

#include <unordered_map>

namespace qs {

/// Blocks of weights, by name, that were found with data.
using ReadyBlocks = std::unordered_map<std::string, BlockMatrix>;

/// MatMul with a constant second factor becomes MatMulNBits, or reads it through a DequantizeLinear of blocks; Gather
/// from a constant table becomes GatherBlockQuantized when the recipe names its type. The algorithm Gptq needs `ready`.
/// Issues: those of blockProducts(), a table without the axis.
Status quantizeWeightsOnly(FloatModel& model, const Recipe& recipe, const ReadyBlocks* ready, size_t threads);

} // namespace qs
