// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/price/weight_ladder.h"

namespace qs {

std::string weightStoreName(const WeightStore& store) { return store ? std::string(dtypeName(*store)) : "float"; }

std::vector<WeightStore> weightLadder(const Recipe& recipe)
{
    const bool symmetric = isSigned(recipe.weightType);
    const WeightOnlyOptions& o = recipe.weightOnly;
    std::vector<WeightStore> ladder;
    if (dtypeBits(recipe.weightType) == 2)
        ladder.push_back(symmetric ? DType::Int2 : DType::UInt2);
    ladder.push_back(symmetric ? DType::Int4 : DType::UInt4);
    // ONNX Runtime's kernels take the zero points of hqq with up to 4 bits alone.
    if (!o.dequantizeForm && o.algorithm != WeightOnlyAlgorithm::Hqq)
        ladder.push_back(symmetric ? DType::Int8 : DType::UInt8);
    ladder.push_back(std::nullopt);
    return ladder;
}

Status checkPriced(const Recipe& recipe)
{
    if (recipe.format == RecipeFormat::WeightOnly)
        return {};
    return badUse("bytes are the price of weights in blocks, and the recipe's format is "
            + std::string(nameIn(kRecipeFormats, recipe.format)),
        "use --format weight-only");
}

} // namespace qs
