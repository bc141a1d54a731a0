// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/domains.h"
#include "core/qdq/name_tails.h"
#include "core/quant/params/weights.h"
#include "core/quant/qoperator/builder.h"

namespace qs {

namespace {

Status concat(QOperatorBuilder& b, const DraftNode& node)
{
    const std::string& out = node.outputs.front();
    if (!b.hasRange(out))
        return b.leaveWithout(node, { out });
    QS_TRY(const auto in, b.activations(node.inputs));
    if (!in)
        return b.leaveWithout(node, node.inputs);
    QS_TRY(const QOperand y, b.output(out));
    DraftNode made { NodeId(), "", "QLinearConcat", kMicrosoftDomain, { y.scale, y.zeroPoint }, { y.codes },
        node.attributes };
    for (const QOperand& x : *in)
        made.inputs.insert(made.inputs.end(), { x.codes, x.scale, x.zeroPoint });
    b.remember(out, y);
    b.replace(node, std::move(made));
    return {};
}

Status split(QOperatorBuilder& b, const DraftNode& node)
{
    QS_TRY(const auto in, b.activations({ node.inputs.front() }));
    if (!in)
        return b.leaveWithout(node, { node.inputs.front() });
    DraftNode made = node;
    made.inputs.front() = in->front().codes;
    for (std::string& out : made.outputs) {
        QOperand part = in->front();
        part.codes = out + "quantized"; // without an underscore, as ONNX Runtime has it
        b.remember(out, part);
        out = part.codes;
    }
    b.replace(node, std::move(made));
    return {};
}

Status gather(QOperatorBuilder& b, const DraftNode& node)
{
    const std::string& data = node.inputs.front();
    const bool constant = b.isConstant(data) && b.model.realType(data) != DType::Undefined;
    if (!constant)
        return b.leave(node, { FloatCause::Rule, "what it gathers from, '" + data + "', is no constant of floats" });
    QS_TRY(const auto in, b.activations({ data }));
    if (!in)
        return b.leaveWithout(node, { data });
    QOperand out = in->front();
    out.codes = QOperatorBuilder::codesName(node.outputs.front());
    DraftNode made = node;
    made.inputs.front() = in->front().codes;
    made.outputs.front() = out.codes;
    b.remember(node.outputs.front(), out);
    b.add(std::move(made));
    return {};
}

/// What fills the edges must be a code, too.
Status padValue(QOperatorBuilder& b, DraftNode& moved, const QOperand& x)
{
    if (moved.attributes.text("mode", "constant") != "constant")
        return {};
    if (!moved.hasInput(2)) {
        moved.inputs.resize(std::max<size_t>(moved.inputs.size(), 3));
        moved.inputs[2] = x.zeroPoint;
        return {};
    }
    const std::string value = moved.inputs[2];
    const std::string codes = QOperatorBuilder::codesName(value);
    if (const Tensor* constant = b.model.draft.constant(value)) {
        const QuantParams params { x.type, x.scales, x.zeroPoints, std::nullopt, 0 };
        b.model.draft.setConstant(codes, weightCodes(*constant, params));
    } else {
        b.add({ NodeId(), value + tails::kQuantize, "QuantizeLinear", "", { value, x.scale, x.zeroPoint }, { codes },
            {} });
    }
    moved.inputs[2] = codes;
    return {};
}

Status pad(QOperatorBuilder& b, const DraftNode& node)
{
    const QOperand* known = b.find(node.inputs.front());
    constexpr int64_t kFirstWithInputs = 11;
    if (b.model.opset() < kFirstWithInputs)
        return b.leave(node, b.model.whyTooOld(node, kFirstWithInputs));
    if (!known)
        return b.leaveBehindFloat(node);
    const QOperand x = *known;
    QOperand out = x;
    DraftNode moved = node;
    QS_CHECK(padValue(b, moved, x));
    moved.inputs.front() = x.codes;
    moved.outputs.front() = out.codes = QOperatorBuilder::codesName(node.outputs.front());
    b.remember(node.outputs.front(), out);
    b.add(std::move(moved));
    return {};
}

Status argMax(QOperatorBuilder& b, const DraftNode& node)
{
    DraftNode moved = node;
    if (const QOperand* in = b.find(node.inputs.front()))
        moved.inputs.front() = in->codes;
    b.add(std::move(moved));
    return {};
}

} // namespace

std::map<std::string, QOperatorRule> qoperatorMovementRules()
{
    return { { "ArgMax", argMax }, { "Concat", concat }, { "Flatten", passCodesOn }, { "Gather", gather },
        { "Pad", pad }, { "Reshape", passCodesOn }, { "Split", split }, { "Squeeze", passCodesOn },
        { "Transpose", passCodesOn }, { "Unsqueeze", passCodesOn } };
}

} // namespace qs
