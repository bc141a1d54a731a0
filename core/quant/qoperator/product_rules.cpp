// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/domains.h"
#include "core/quant/qoperator/builder.h"

namespace qs {

namespace {

/// A product that lacks a range, or whose second factor or bias is computed.
Status leaveProduct(QOperatorBuilder& b, const DraftNode& node)
{
    if (!node.is("Conv") && b.recipe.matmulConstantOnly.value_or(false) && !b.isConstant(node.inputs[1]))
        return b.leave(node,
            { FloatCause::Rule,
                "its second factor is no constant, and the recipe quantizes no others (MatMulConstBOnly)" });
    if (!node.is("MatMul") && node.hasInput(2) && !b.isConstant(node.inputs[2]))
        return b.leave(node, { FloatCause::Rule, "its bias is no constant" });
    return b.leaveWithout(node, { node.inputs[0], node.inputs[1], node.outputs.front() });
}

Status conv(QOperatorBuilder& b, const DraftNode& node)
{
    const std::string& out = node.outputs.front();
    const bool constantBias = !node.hasInput(2) || b.isConstant(node.inputs[2]);
    const bool known = b.find(node.inputs[0]) || b.isConstant(node.inputs[0]) || b.hasRange(node.inputs[0]);
    if (!known || !b.hasRange(out) || !constantBias || (!b.isConstant(node.inputs[1]) && !b.hasRange(node.inputs[1])))
        return leaveProduct(b, node);
    const bool perChannel = b.recipe.perChannel && b.isConstant(node.inputs[1]);
    QS_TRY(const auto x, b.activation(node.inputs[0]));
    QS_TRY(const auto w,
        b.weight(node.inputs[1], perChannel ? std::optional<int64_t>(0) : std::nullopt,
            perChannel ? DType::Int8 : b.recipe.weightType));
    QS_TRY(const QOperand y, b.output(out));
    if (!x || !w)
        return b.leaveWithout(node, { node.inputs[0], node.inputs[1] });
    DraftNode made { NodeId(), "", "QLinearConv", "",
        { x->codes, x->scale, x->zeroPoint, w->codes, w->scale, w->zeroPoint, y.scale, y.zeroPoint }, { y.codes },
        node.attributes };
    if (node.hasInput(2)) {
        QS_TRY(const std::string bias, b.bias(node.inputs[2], *x, node.inputs[1], 1));
        made.inputs.push_back(bias);
    }
    b.remember(out, y);
    b.replace(node, std::move(made));
    return {};
}

Status matmul(QOperatorBuilder& b, const DraftNode& node)
{
    const std::string& out = node.outputs.front();
    const bool constantB = b.isConstant(node.inputs[1]);
    const auto reaches
        = [&](const std::string& name) { return b.find(name) || b.isConstant(name) || b.hasRange(name); };
    if (!b.hasRange(out) || !reaches(node.inputs[0]) || !reaches(node.inputs[1])
        || (b.recipe.matmulConstantOnly.value_or(false) && !constantB))
        return leaveProduct(b, node);
    const bool perChannel = b.recipe.perChannel && constantB;
    QS_TRY(const auto x, b.activation(node.inputs[0]));
    QS_TRY(const auto w,
        b.weight(node.inputs[1], perChannel ? std::optional<int64_t>(-1) : std::nullopt, b.recipe.weightType));
    QS_TRY(const QOperand y, b.output(out));
    if (!x || !w)
        return b.leaveWithout(node, { node.inputs[0], node.inputs[1] });
    b.remember(out, y);
    b.replace(node,
        { NodeId(), "", "QLinearMatMul", "",
            { x->codes, x->scale, x->zeroPoint, w->codes, w->scale, w->zeroPoint, y.scale, y.zeroPoint }, { y.codes },
            node.attributes });
    return {};
}

Status gemm(QOperatorBuilder& b, const DraftNode& node)
{
    const std::string& out = node.outputs.front();
    const bool constantB = b.isConstant(node.inputs[1]);
    const auto reaches
        = [&](const std::string& name) { return b.find(name) || b.isConstant(name) || b.hasRange(name); };
    if (!b.hasRange(out) || !reaches(node.inputs[0]) || !reaches(node.inputs[1])
        || (node.hasInput(2) && !b.isConstant(node.inputs[2]))
        || (b.recipe.matmulConstantOnly.value_or(false) && !constantB))
        return leaveProduct(b, node);
    const bool perChannel = b.recipe.perChannel && constantB;
    const int64_t axis = node.attributes.integer("transB", 0) != 0 ? 0 : 1;
    QS_TRY(const auto x, b.activation(node.inputs[0]));
    QS_TRY(const auto w,
        b.weight(node.inputs[1], perChannel ? std::optional<int64_t>(axis) : std::nullopt, b.recipe.weightType));
    QS_TRY(const QOperand y, b.output(out));
    if (!x || !w)
        return b.leaveWithout(node, { node.inputs[0], node.inputs[1] });
    DraftNode made { NodeId(), "", "QGemm", kMicrosoftDomain,
        { x->codes, x->scale, x->zeroPoint, w->codes, w->scale, w->zeroPoint, "", y.scale, y.zeroPoint }, { y.codes },
        {} };
    for (const auto& [name, value] : node.attributes.all())
        if (name != "beta") // goes into the bias
            made.attributes.set(name, value);
    if (node.hasInput(2)) {
        const float beta = node.attributes.real("beta", 1);
        QS_TRY(made.inputs[6], b.bias(node.inputs[2], *x, node.inputs[1], beta));
        // The scales may have been enlarged for the bias.
    }
    b.remember(out, y);
    b.replace(node, std::move(made));
    return {};
}

} // namespace

std::map<std::string, QOperatorRule> qoperatorProductRules()
{
    return { { "Conv", conv }, { "MatMul", matmul }, { "Gemm", gemm } };
}

} // namespace qs
