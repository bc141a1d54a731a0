// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/dynamic/transformer_rules.h"

#include "core/graph/domains.h"
#include "core/quant/dynamic/factors.h"

namespace qs {

namespace {

std::string inputOrNone(const DraftNode& node, size_t i) { return node.hasInput(i) ? node.inputs[i] : std::string(); }

} // namespace

Status quantizeAttention(QOperatorBuilder& b, const DraftNode& node)
{
    // The standard operator of that name is another one.
    if (node.domain != kMicrosoftDomain || node.attributes.has("qkv_hidden_sizes") || !node.hasInput(1))
        return b.leave(
            node, { FloatCause::Rule, "only com.microsoft's Attention without qkv_hidden_sizes can be quantized" });
    QS_TRY(const auto factors, dynamicFactors(b, node, -1));
    if (!factors)
        return {};
    const auto& [x, w] = *factors;
    DraftNode made { NodeId(), "", "QAttention", kMicrosoftDomain,
        { x.codes, w.codes, inputOrNone(node, 2), x.scale, w.scale, inputOrNone(node, 3), x.zeroPoint, w.zeroPoint,
            inputOrNone(node, 4) },
        node.outputs, node.attributes };
    b.replace(node, std::move(made));
    return {};
}

} // namespace qs
