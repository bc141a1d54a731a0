// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/qdq/quant_form.h"

#include "core/graph/domains.h"

namespace qs {

std::string_view quantFormName(QuantForm form)
{
    switch (form) {
    case QuantForm::Float:
        return "float";
    case QuantForm::Qdq:
        return "qdq";
    case QuantForm::QOperator:
        return "qoperator";
    case QuantForm::Dynamic:
        return "dynamic";
    case QuantForm::WeightOnly:
        return "weight_only";
    case QuantForm::Mixed:
        return "mixed";
    }
    return "float";
}

QuantForm quantFormOf(const Graph& graph, const FormEvidence& evidence, bool hasQuantizers)
{
    bool weightOnlyNode = false;
    for (const Node& node : graph.nodes())
        weightOnlyNode |= node.domain == kMicrosoftDomain
            && (node.opType == "MatMulNBits" || node.opType == "GatherBlockQuantized" || node.opType == "MatMulBnb4"
                || node.opType == "QMoE");
    const bool qdq = evidence.activationPairs > 0;
    const bool weightOnly = weightOnlyNode
        || (!qdq && !evidence.operatorsOnCodes && !evidence.dynamicQuantizers && evidence.weightPairs > 0);
    const int forms = int(qdq) + int(evidence.operatorsOnCodes) + int(evidence.dynamicQuantizers) + int(weightOnly);
    if (forms > 1)
        return QuantForm::Mixed;
    if (qdq)
        return QuantForm::Qdq;
    if (evidence.operatorsOnCodes)
        return QuantForm::QOperator;
    if (evidence.dynamicQuantizers)
        return QuantForm::Dynamic;
    if (weightOnly)
        return QuantForm::WeightOnly;
    return hasQuantizers ? QuantForm::Qdq : QuantForm::Float;
}

} // namespace qs
