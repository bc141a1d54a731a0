// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/constants.h"
#include "core/graph/graph.h"
#include "core/tensor/quant_params.h"

#include <vector>

namespace qs {

/// A weight that com.microsoft's MatMulNBits, GatherBlockQuantized or QMoE stores in blocks.
struct BlockWeight {
    size_t slot; ///< node input that holds it
    Tensor codes; ///< one code an element: columns x depth, the table, or experts x rows x depth
    QuantParams params;
};
/// None of another operator; those are left out that are not all constant, or have parameters that QuantParams cannot
/// tell (rows in another order).
std::vector<BlockWeight> blockWeights(const Node& node, const ConstantLookup& constants);

} // namespace qs
