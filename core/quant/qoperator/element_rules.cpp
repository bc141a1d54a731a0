// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/domains.h"
#include "core/quant/model/removed_activations.h"
#include "core/quant/qoperator/builder.h"

namespace qs {

namespace {

/// Add and Mul.
Status binary(QOperatorBuilder& b, const DraftNode& node)
{
    const std::string& out = node.outputs.front();
    if (!b.hasRange(out))
        return b.leaveWithout(node, { out });
    QS_TRY(const auto in, b.activations(node.inputs));
    if (!in)
        return b.leaveWithout(node, node.inputs);
    QS_TRY(const QOperand y, b.output(out));
    DraftNode made { NodeId(), "", "QLinear" + node.opType, kMicrosoftDomain, {}, { y.codes }, node.attributes };
    for (const QOperand& x : *in)
        made.inputs.insert(made.inputs.end(), { x.codes, x.scale, x.zeroPoint });
    made.inputs.insert(made.inputs.end(), { y.scale, y.zeroPoint });
    b.remember(out, y);
    b.replace(node, std::move(made));
    return {};
}

/// One input, one output, parameters of both.
Status unary(QOperatorBuilder& b, const DraftNode& node, const std::optional<QOperand>& fixed, Attributes attributes)
{
    const std::string& out = node.outputs.front();
    if (!fixed && !b.hasRange(out))
        return b.leaveWithout(node, { out });
    QS_TRY(const auto in, b.activations({ node.inputs.front() }));
    if (!in)
        return b.leaveWithout(node, { node.inputs.front() });
    QOperand y = fixed.value_or(QOperand());
    if (!fixed) {
        QS_TRY(y, b.output(out));
    }
    const QOperand& x = in->front();
    b.remember(out, y);
    b.replace(node,
        { NodeId(), "", "QLinear" + node.opType, kMicrosoftDomain,
            { x.codes, x.scale, x.zeroPoint, y.scale, y.zeroPoint }, { y.codes }, std::move(attributes) });
    return {};
}

Status sigmoid(QOperatorBuilder& b, const DraftNode& node)
{
    std::optional<QOperand> fixed;
    if (b.recipe.sigmoidNnapi)
        fixed = b.outputWith(node.outputs.front(), 1.0f / 256, 0, b.recipe.activationType);
    return unary(b, node, fixed, node.attributes);
}

Status leakyRelu(QOperatorBuilder& b, const DraftNode& node) { return unary(b, node, std::nullopt, node.attributes); }

Status softmax(QOperatorBuilder& b, const DraftNode& node)
{
    const std::string& out = node.outputs.front();
    if (!b.hasRange(out) || (!b.find(node.inputs.front()) && !b.hasRange(node.inputs.front())))
        return b.leaveWithout(node, b.hasRange(out) ? node.inputs : node.outputs);
    const bool isUnsigned = b.recipe.activationType == DType::UInt8;
    Attributes attributes = node.attributes;
    attributes.set("opset", b.model.opset());
    return unary(b, node, b.outputWith(out, 1.0f / 256, isUnsigned ? 0 : -128, b.recipe.activationType), attributes);
}

/// The codes saturate where a Relu or Clip would cut.
Status clip(QOperatorBuilder& b, const DraftNode& node)
{
    const QOperand* in = b.find(node.inputs.front());
    if (!in)
        return b.leaveBehindFloat(node);
    if (b.recipe.symmetricActivations)
        return b.leave(node, { FloatCause::Rule, "symmetric codes do not end where " + node.opType + " cuts" });
    const auto bounds = cutBounds(b.model, node);
    const QuantParams params { in->type, in->scales, in->zeroPoints, std::nullopt, 0 };
    if (!bounds || !rangeCuts(params, *bounds)) {
        if (b.recipe.exactActivations) {
            b.model.keptActivations.push_back(node.name);
            return b.leave(node, { FloatCause::Rule, "the codes before it do not end where " + node.opType + " cuts" });
        }
        noteLost(b.model, node, bounds.value_or(CutBounds {}), params);
    }
    b.remember(node.outputs.front(), QOperand(*in));
    return {};
}

Status where(QOperatorBuilder& b, const DraftNode& node)
{
    const std::string& out = node.outputs.front();
    if (!b.recipe.quantizeUnquantizedInputs)
        return b.leave(node,
            { FloatCause::Rule, "ONNX Runtime's tools quantize Where only with the option ForceQuantizeNoInputCheck" });
    if (!b.hasRange(out))
        return b.leaveWithout(node, { out });
    const std::vector<std::string> branches { node.inputs[1], node.inputs[2] };
    QS_TRY(const auto in, b.activations(branches));
    if (!in)
        return b.leaveWithout(node, branches);
    QS_TRY(const QOperand z, b.output(out));
    const QOperand &x = in->at(0), &y = in->at(1);
    b.remember(out, z);
    b.replace(node,
        { NodeId(), "", "QLinearWhere", kMicrosoftDomain,
            { node.inputs[0], x.codes, x.scale, x.zeroPoint, y.codes, y.scale, y.zeroPoint, z.scale, z.zeroPoint },
            { z.codes }, node.attributes });
    return {};
}

} // namespace

std::map<std::string, QOperatorRule> qoperatorElementRules()
{
    return { { "Add", binary }, { "Mul", binary }, { "Sigmoid", sigmoid }, { "LeakyRelu", leakyRelu },
        { "Softmax", softmax }, { "Relu", clip }, { "Clip", clip }, { "Where", where } };
}

} // namespace qs
