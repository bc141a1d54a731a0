// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/recipe/op_types.h"

namespace qs {

const std::vector<std::string>& defaultOpTypes(RecipeFormat format)
{
    static const std::vector<std::string> fixed { "Add", "ArgMax", "AveragePool", "BatchNormalization", "Clip",
        "Concat", "Conv", "ConvTranspose", "CumSum", "EmbedLayerNormalization", "Flatten", "Gather", "GatherElements",
        "Gemm", "GlobalAveragePool", "InstanceNormalization", "LayerNormalization", "LeakyRelu", "MatMul", "MaxPool",
        "Mul", "Pad", "Relu", "Reshape", "Resize", "Sigmoid", "Slice", "Softmax", "Split", "Squeeze", "TopK",
        "Transpose", "Unsqueeze", "Where" };
    static const std::vector<std::string> dynamic { "Attention", "Conv", "EmbedLayerNormalization", "Gather", "LSTM",
        "MatMul", "Transpose" };
    static const std::vector<std::string> blocks { "MatMul" };
    switch (format) {
    case RecipeFormat::Dynamic:
        return dynamic;
    case RecipeFormat::WeightOnly:
        return blocks;
    case RecipeFormat::Qdq:
    case RecipeFormat::QOperator:
        break;
    }
    return fixed;
}

const std::vector<std::string>& opTypesOf(const Recipe& recipe)
{
    return recipe.opTypes.empty() ? defaultOpTypes(recipe.format) : recipe.opTypes;
}

bool isProductAndSum(const std::string& opType, const Attributes& attributes)
{
    return opType == "Gemm" && attributes.real("alpha", 1) == 1 && attributes.real("beta", 1) == 1
        && attributes.integer("transA", 0) == 0;
}

std::string chosenType(const DraftNode& node, RecipeFormat format)
{
    return format == RecipeFormat::Dynamic && isProductAndSum(node) ? "MatMul" : node.opType;
}

} // namespace qs
