// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/domains.h"
#include "core/quant/qoperator/builder.h"

namespace qs {

Status quantizeEmbedding(QOperatorBuilder& b, const DraftNode& node)
{
    constexpr size_t kFirst = 2, kTables = 5; // three tables, scale and shift
    if (node.outputs.size() > 2 || node.inputs.size() < kFirst + kTables)
        return b.leave(
            node, { FloatCause::Rule, "it returns the sum of the embeddings, too, or has no scale and shift" });
    std::vector<QOperand> tables;
    for (size_t i = kFirst; i < kFirst + kTables; ++i) {
        QS_TRY(const auto table, b.activation(node.inputs[i]));
        if (!table)
            return b.leaveWithout(node, { node.inputs[i] });
        tables.push_back(*table);
    }
    DraftNode made { NodeId(), "", "QEmbedLayerNormalization", kMicrosoftDomain, { node.inputs[0], node.inputs[1] },
        node.outputs, node.attributes };
    for (const QOperand& table : tables)
        made.inputs.push_back(table.codes);
    made.inputs.push_back(node.hasInput(kFirst + kTables) ? node.inputs[kFirst + kTables] : std::string());
    for (const QOperand& table : tables)
        made.inputs.push_back(table.scale);
    for (const QOperand& table : tables)
        made.inputs.push_back(table.zeroPoint);
    b.replace(node, std::move(made));
    return {};
}

} // namespace qs
