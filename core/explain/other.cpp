// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/explain/operation.h"
#include "core/tensor/convert.h"

/// Operators without a form of their own here.
namespace qs {

namespace {

/// The row that a normalization along an axis looks at.
bool explainRow(const Operation& op, int64_t element, ElementExplanation& e)
{
    const std::string& type = op.node->opType;
    const bool softmax = type == "Softmax" || type == "LogSoftmax" || type == "Hardmax";
    const bool norm = type == "LayerNormalization" || type == "RMSNormalization" || type == "SimplifiedLayerNormalization";
    if ((!softmax && !norm) || !op.in(0) || op.output.shape() != op.inputs[0].shape() || op.output.rank() == 0)
        return false;
    const Shape& shape = op.inputs[0].shape();
    const bool flattens = softmax && op.node->opset > 0 && op.node->opset < 13;
    const auto axis = normalizedAxis(op.node->attributes.integer("axis", flattens ? 1 : -1), shape.size());
    if (!axis)
        return false;
    const bool rest = norm || flattens;
    int64_t length = 1, inner = 1;
    for (size_t i = *axis; i < shape.size(); ++i)
        (i == *axis || rest ? length : inner) *= shape[i];
    for (int64_t i = 0; i < length; ++i) {
        ElementTerm term;
        term.a = operandAt(op, 0, element / (length * inner) * length * inner + i * inner + element % inner);
        term.chosen = term.a.element == element;
        e.terms.push_back(std::move(term));
    }
    e.relation = Relation::Function;
    return true;
}

} // namespace

void explainOther(const Operation& op, int64_t element, ElementExplanation& e)
{
    e.kind = ElementExplanation::Kind::Other;
    if (explainRow(op, element, e))
        return;
    e.relation = Relation::None;
    e.note = "the steps of " + op.node->opType + " are not followed here; its inputs are named";
}

} // namespace qs
