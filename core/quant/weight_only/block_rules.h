// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/quant/model/float_model.h"
#include "core/quant/weight_only/block_matrix.h"

namespace qs {

/// A MatMul whose constant factor becomes blocks.
struct BlockProduct {
    size_t node; ///< of the draft
    std::string weight;
    Tensor matrix; ///< [K, N]; of a weight with more dimensions, which are all 1
    BlockRules rules;
};

/// The chosen MatMuls with a constant matrix, in graph order. Issues: options that do not go together, a block size
/// that the form does not have, names that are not in the model.
Result<std::vector<BlockProduct>> blockProducts(const FloatModel& model, const Recipe& recipe, size_t threads);

} // namespace qs
