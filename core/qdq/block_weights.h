// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/constants.h"
#include "core/graph/graph.h"
#include "core/tensor/quant_params.h"

#include <optional>

namespace qs {

/// A weight that com.microsoft's MatMulNBits or GatherBlockQuantized stores in blocks.
struct BlockWeight {
    size_t slot; ///< node input that holds it
    Tensor codes; ///< one code an element: columns x depth, or the table
    QuantParams params;
};
/// nullopt: another operator, not all constant, or parameters that QuantParams cannot tell (rows in another order).
std::optional<BlockWeight> blockWeight(const Node& node, const ConstantLookup& constants);

} // namespace qs
