// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/domains.h"
#include "core/quant/qoperator/builder.h"

namespace qs {

namespace {

Status averagePool(QOperatorBuilder& b, const DraftNode& node)
{
    const std::string& out = node.outputs.front();
    if (!b.hasRange(out))
        return b.leaveWithout(node, { out });
    QS_TRY(const auto in, b.activations({ node.inputs.front() }));
    if (!in)
        return b.leaveWithout(node, { node.inputs.front() });
    QS_TRY(const QOperand y, b.output(out));
    const QOperand& x = in->front();
    b.remember(out, y);
    b.replace(node,
        { NodeId(), "", "QLinearAveragePool", kMicrosoftDomain, { x.codes, x.scale, x.zeroPoint, y.scale, y.zeroPoint },
            { y.codes }, node.attributes });
    return {};
}

Status globalAveragePool(QOperatorBuilder& b, const DraftNode& node)
{
    const std::string& out = node.outputs.front();
    const QOperand* known = b.find(node.inputs.front());
    if (!known)
        return b.leaveBehindFloat(node);
    const QOperand x = *known;
    QOperand y = x;
    y.codes = QOperatorBuilder::codesName(out);
    if (b.hasRange(out)) {
        QS_TRY(y, b.output(out));
    }
    Attributes attributes;
    attributes.set("channels_last", int64_t(0));
    b.remember(out, y);
    b.replace(node,
        { NodeId(), "", "QLinearGlobalAveragePool", kMicrosoftDomain,
            { x.codes, x.scale, x.zeroPoint, y.scale, y.zeroPoint }, { y.codes }, std::move(attributes) });
    return {};
}

template <int64_t first> Status fromOpset(QOperatorBuilder& b, const DraftNode& node)
{
    if (b.model.opset() >= first)
        return passCodesOn(b, node);
    return b.leave(node, b.model.whyTooOld(node, first));
}

} // namespace

std::map<std::string, QOperatorRule> qoperatorPoolRules()
{
    return { { "AveragePool", averagePool }, { "GlobalAveragePool", globalAveragePool }, { "MaxPool", fromOpset<12> },
        { "Resize", fromOpset<11> } };
}

} // namespace qs
