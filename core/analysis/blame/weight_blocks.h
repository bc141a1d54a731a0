// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/blame/value_cuts.h"
#include "core/tensor/tensor.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace qs {

/// A product by a matrix [depth, width] that the quantized model keeps in blocks along its depth.
struct BlockedProduct {
    std::string weight; ///< name in the float file
    std::pair<ValueId, ValueId> input, output; ///< float, quantized
    int64_t depth = 0, width = 0;
    int64_t step = 0; ///< of the depth, that is told apart: a block, or several where there are many
    std::vector<float> change; ///< the stored weight less the float one
    int64_t parts() const { return (depth + step - 1) / step; }
    std::string partName(int64_t part) const; ///< "WEIGHT[64:96]", rows of the float weight
};

/// Nothing where the node of the float model is no such product, or its input and output cannot be seen in both.
std::optional<BlockedProduct> blockedProduct(const ComparePair& pair, const CutModels& models, NodeId floatNode);

/// The product's output y with the first parts of the weight as the other model has them: `factor` 1 changes float ones
/// into stored ones, -1 the other way. `x`: its input [..., depth]; real numbers of any type, the result is of y's.
Tensor withParts(const Tensor& y, const Tensor& x, const BlockedProduct& product, int64_t parts, float factor);

} // namespace qs
