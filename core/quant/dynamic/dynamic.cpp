// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/dynamic/dynamic.h"

#include "core/qdq/name_tails.h"
#include "core/quant/dynamic/factors.h"
#include "core/quant/dynamic/lstm.h"
#include "core/quant/dynamic/transformer_rules.h"
#include "core/tensor/convert.h"

namespace qs {

namespace {

constexpr int64_t kFloat32Type = 1;

/// sums (int32) -> Cast -> Mul with the product of both scales -> `scaled`.
void scaleSums(QOperatorBuilder& b, const DraftNode& node, const QOperand& x, const QOperand& w,
    const std::string& scaled, int64_t castTo)
{
    const std::string sums = node.outputs.front() + tails::kSums;
    const std::string quant = node.name + "_quant";
    Attributes to;
    to.set("to", castTo);
    b.add({ NodeId(), sums + "_cast", "Cast", "", { sums }, { sums + "_cast_output" }, to });
    b.add({ NodeId(), quant + "_scales_mul", "Mul", "", { x.scale, w.scale }, { quant + "_scales_mul:0" }, {} });
    b.add({ NodeId(), quant + "_output_scale_mul", "Mul", "", { sums + "_cast_output", quant + "_scales_mul:0" },
        { scaled }, {} });
}

int64_t castType(const QOperatorBuilder& b, const std::string& value)
{
    return b.model.realType(value) == DType::Float16 ? static_cast<int64_t>(DType::Float16) : kFloat32Type;
}

Status dynamicMatmul(QOperatorBuilder& b, const DraftNode& node)
{
    if (!b.isConstant(node.inputs[1]) && b.recipe.matmulConstantOnly.value_or(true))
        return b.leave(node,
            { FloatCause::Rule,
                "its second factor is no constant, and the recipe quantizes no others (MatMulConstBOnly)" });
    QS_TRY(const auto factors, dynamicFactors(b, node, -1));
    if (!factors)
        return {};
    const auto& [x, w] = *factors;
    const std::string& out = node.outputs.front();
    b.replace(node,
        { NodeId(), "", "MatMulInteger", "", { x.codes, w.codes, x.zeroPoint, w.zeroPoint }, { out + tails::kSums },
            {} });
    scaleSums(b, node, x, w, out, castType(b, out));
    return {};
}

Status dynamicConv(QOperatorBuilder& b, const DraftNode& node)
{
    const Tensor* weight = node.hasInput(1) ? b.model.constant(node.inputs[1]) : nullptr;
    if (weight && weight->rank() < 3)
        return b.leave(node,
            { FloatCause::Rule,
                "its weight has " + std::to_string(weight->rank()) + (weight->rank() == 1 ? " axis" : " axes")
                    + ", that of a convolution three or more" });
    QS_TRY(const auto factors, dynamicFactors(b, node, std::nullopt));
    if (!factors)
        return {};
    const auto& [x, w] = *factors;
    const std::string& out = node.outputs.front();
    b.replace(node,
        { NodeId(), "", "ConvInteger", "", { x.codes, w.codes, x.zeroPoint, w.zeroPoint }, { out + tails::kSums },
            node.attributes });
    const bool bias = node.hasInput(2);
    const std::string scaled = bias ? out + "quant_scaled_output" : out;
    scaleSums(b, node, x, w, scaled, castType(b, out));
    if (!bias)
        return {};
    const size_t rank = weight ? weight->rank() : 4;
    std::vector<int64_t> shape(rank, 1);
    shape[1] = -1;
    const std::string stem = out + "_bias_reshape";
    b.model.draft.setConstant(stem + "_shape", Tensor::of<int64_t>({ static_cast<int64_t>(rank) }, shape));
    b.add({ NodeId(), "", "Reshape", "", { node.inputs[2], stem + "_shape" }, { stem + "_output" }, {} });
    b.add({ NodeId(), out + "_bias_add", "Add", "", { scaled, stem + "_output" }, { out }, {} });
    return {};
}

Status dynamicGather(QOperatorBuilder& b, const DraftNode& node)
{
    const std::string& data = node.inputs.front();
    if (!b.isConstant(data) || b.model.realType(data) == DType::Undefined)
        return b.leave(node, { FloatCause::Rule, "what it gathers from, '" + data + "', is no constant of floats" });
    QS_TRY(const auto table, b.activation(data));
    if (!table)
        return b.leaveWithout(node, { data });
    QOperand out = *table;
    out.codes = QOperatorBuilder::codesName(node.outputs.front());
    DraftNode made = node;
    made.inputs.front() = table->codes;
    made.outputs.front() = out.codes;
    b.remember(node.outputs.front(), out);
    b.add(std::move(made));
    return {};
}

} // namespace

Status quantizeDynamic(FloatModel& model, const Recipe& recipe)
{
    static const std::map<std::string, QOperatorRule> rules { { "MatMul", dynamicMatmul }, { "Conv", dynamicConv },
        { "Gather", dynamicGather }, { "Transpose", passCodesOn }, { "LSTM", quantizeLstm },
        { "Attention", quantizeAttention }, { "EmbedLayerNormalization", quantizeEmbedding } };
    return quantizeNodes(model, recipe, rules);
}

} // namespace qs
