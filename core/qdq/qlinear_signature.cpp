// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/qdq/qlinear_signature.h"

#include "core/graph/domains.h"

#include <array>
#include <map>
#include <string_view>

namespace qs {

namespace {

bool known(const Node& node) { return node.domain.empty() || node.domain == kMicrosoftDomain; }

} // namespace

std::optional<QLinearSignature> qlinearSignature(const Node& node)
{
    if (!known(node))
        return std::nullopt;
    const std::string& t = node.opType;
    if (t == "QLinearConv")
        return QLinearSignature { { { 0, 1, 2 }, { 3, 4, 5 } }, { 0, 6, 7 }, 8 };
    if (t == "QLinearMatMul")
        return QLinearSignature { { { 0, 1, 2 }, { 3, 4, 5 } }, { 0, 6, 7 }, -1 };
    if (t == "QGemm")
        return QLinearSignature { { { 0, 1, 2 }, { 3, 4, 5 } }, { 0, node.hasInput(7) ? 7 : -1, 8 }, 6 };
    if (t == "QLinearAdd" || t == "QLinearMul")
        return QLinearSignature { { { 0, 1, 2 }, { 3, 4, 5 } }, { 0, 6, 7 }, -1 };
    if (t == "MatMulIntegerToFloat")
        return QLinearSignature { { { 0, 2, 4 }, { 1, 3, 5 } }, { 0, -1, -1 }, -1 };
    if (t == "QAttention")
        return QLinearSignature { { { 0, 3, 6 }, { 1, 4, 7 } }, { 0, -1, -1 }, -1 };
    if (t == "QEmbedLayerNormalization")
        return QLinearSignature { { { 2, 8, 13 }, { 3, 9, 14 }, { 4, 10, 15 }, { 5, 11, 16 }, { 6, 12, 17 } },
            { 0, -1, -1 }, -1 };
    if (t == "QLinearSigmoid" || t == "QLinearLeakyRelu" || t == "QLinearAveragePool" || t == "QLinearGlobalAveragePool"
        || t == "QLinearSoftmax")
        return QLinearSignature { { { 0, 1, 2 } }, { 0, 3, 4 }, -1 };
    if (t == "QLinearWhere")
        return QLinearSignature { { { 1, 2, 3 }, { 4, 5, 6 } }, { 0, 7, 8 }, -1 };
    if (t == "QLinearConcat") {
        QLinearSignature s { {}, { 0, 0, 1 }, -1 };
        for (int i = 2; i + 2 < int(node.inputs.size()); i += 3)
            s.inputs.push_back({ i, i + 1, i + 2 });
        return s;
    }
    return std::nullopt;
}

std::string floatOpType(const Node& node)
{
    static const std::map<std::string_view, std::string_view> names { { "QGemm", "Gemm" }, { "ConvInteger", "Conv" },
        { "MatMulInteger", "MatMul" }, { "DynamicQuantizeMatMul", "MatMul" }, { "MatMulIntegerToFloat", "MatMul" },
        { "MatMulNBits", "MatMul" }, { "MatMulBnb4", "MatMul" }, { "GatherBlockQuantized", "Gather" },
        { "FusedConv", "Conv" }, { "FusedMatMul", "MatMul" }, { "FusedGemm", "Gemm" }, { "QAttention", "Attention" },
        { "QEmbedLayerNormalization", "EmbedLayerNormalization" }, { "DynamicQuantizeLSTM", "LSTM" },
        { "NhwcMaxPool", "MaxPool" }, { "QMoE", "MoE" } };
    if (!known(node))
        return node.opType;
    if (const auto it = names.find(node.opType); it != names.end())
        return std::string(it->second);
    if (node.opType.starts_with("QLinear"))
        return node.opType.substr(7);
    return node.opType;
}

bool movesElements(const Node& node)
{
    static constexpr std::array<std::string_view, 18> types { "MaxPool", "Reshape", "Transpose", "Flatten", "Squeeze",
        "Unsqueeze", "Slice", "Gather", "Split", "Identity", "Expand", "Tile", "DepthToSpace", "SpaceToDepth",
        "Dropout", "GatherElements", "GatherND", "GlobalMaxPool" };
    if (!node.hasInput(0) || !node.hasOutput(0))
        return false;
    if (!node.domain.empty())
        return node.is("NhwcMaxPool", kMicrosoftDomain);
    for (std::string_view t : types)
        if (node.opType == t)
            return true;
    return node.opType == "Resize" && node.attributes.text("mode", "nearest") == "nearest";
}

bool keepsParams(const Node& node)
{
    const bool makes = node.is("Resize") || node.is("Pad") || node.is("Upsample");
    return movesElements(node) || (makes && node.hasInput(0) && node.hasOutput(0));
}

bool isQuantizeLinear(const Node& node) { return known(node) && node.opType == "QuantizeLinear"; }
bool isDequantizeLinear(const Node& node) { return known(node) && node.opType == "DequantizeLinear"; }

} // namespace qs
