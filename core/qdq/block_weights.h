// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/constants.h"
#include "core/graph/graph.h"
#include "core/tensor/quant_params.h"

#include <array>
#include <vector>

namespace qs {

/// A weight that com.microsoft's MatMulNBits, GatherBlockQuantized or QMoE stores in blocks.
struct BlockWeight {
    size_t slot; ///< node input that holds it
    Tensor codes; ///< one code an element: columns x depth, the table, or experts x rows x depth
    QuantParams params;
};
/// Inputs of one of the three products that experts have: of com.microsoft's MoE, and of QMoE, where a bias stands two
/// behind the codes.
struct ExpertSlots {
    size_t plain, codes, scales, zeroPoints;
};
inline constexpr std::array<ExpertSlots, 3> kExpertSlots { { { 2, 2, 3, 11 }, { 4, 5, 6, 12 }, { 6, 8, 9, 13 } } };
/// Input of QMoE: shares of the experts beside router_probs, which MoE has not.
inline constexpr size_t kRouterWeights = 14;

/// None of another operator; those are left out that are not all constant, or have parameters that QuantParams cannot
/// tell (rows in another order).
std::vector<BlockWeight> blockWeights(const Node& node, const ConstantLookup& constants);

} // namespace qs
