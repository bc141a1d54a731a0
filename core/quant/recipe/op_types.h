// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/draft.h"
#include "core/quant/recipe/recipe.h"

namespace qs {

/// Operators that a recipe without types of its own quantizes.
const std::vector<std::string>& defaultOpTypes(RecipeFormat format);
/// Those that this recipe quantizes.
const std::vector<std::string>& opTypesOf(const Recipe& recipe);

/// A Gemm that is only a product and a sum: the dynamic form makes a MatMul and an Add of it, as ONNX Runtime does.
bool isProductAndSum(const std::string& opType, const Attributes& attributes);
inline bool isProductAndSum(const DraftNode& node)
{
    return node.domain.empty() && isProductAndSum(node.opType, node.attributes) && node.hasInput(0) && node.hasInput(1);
}
/// Names that ONNX Runtime gives the two.
inline std::string productName(const std::string& gemm) { return gemm + "_MatMul"; }
inline std::string sumName(const std::string& gemm) { return gemm + "_Add"; }
/// The type that recipes of this form choose the node by: that of the product for such a Gemm.
std::string chosenType(const DraftNode& node, RecipeFormat format);

} // namespace qs
