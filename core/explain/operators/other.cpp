// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/explain/operators/operation.h"
#include "core/tensor/convert.h"

#include <cmath>

/// Operators without a form of their own here.
namespace qs {

namespace {

/// SkipLayerNormalization and its like: the sum of inputs that they normalize, or the row of it.
bool explainSkip(const Operation& op, int64_t element, ElementExplanation& e)
{
    const std::string& type = op.node->opType;
    if ((type != "SkipLayerNormalization" && type != "SkipSimplifiedLayerNormalization") || !op.in(0) || !op.in(1)
        || op.output.shape() != op.inputs[0].shape() || op.output.rank() == 0)
        return false;
    const bool sum = op.outputIndex == 3;
    const size_t bias = type == "SkipLayerNormalization" ? 4 : 3;
    const int64_t length = op.output.shape().back(), first = sum ? element : element / length * length;
    const Shape& shape = op.output.shape();
    double total = 0;
    for (const size_t slot : { size_t(0), size_t(1), bias })
        for (int64_t i = first; op.in(slot) && i < (sum ? first + 1 : first + length); ++i) {
            const auto fits = broadcastShapes(op.inputs[slot].shape(), shape);
            if (!fits || *fits != shape)
                return false;
            ElementTerm term;
            term.a = operandAt(op, slot, broadcastElement(shape, i, op.inputs[slot].shape()));
            term.chosen = !sum && i == element;
            total += term.a.real;
            e.terms.push_back(std::move(term));
        }
    e.relation = sum ? Relation::Sum : Relation::Function;
    if (sum) {
        const double made = elementAsDouble(op.output, element);
        e.steps.push_back({ "sum", total });
        e.confirmed = !(std::abs(total - made) > 1e-2 * std::abs(made) + 1e-5);
    }
    return true;
}

/// The row that a normalization along an axis looks at.
bool explainRow(const Operation& op, int64_t element, ElementExplanation& e)
{
    const std::string& type = op.node->opType;
    const bool softmax = type == "Softmax" || type == "LogSoftmax" || type == "Hardmax";
    const bool norm
        = type == "LayerNormalization" || type == "RMSNormalization" || type == "SimplifiedLayerNormalization";
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
    if (explainRow(op, element, e) || explainSkip(op, element, e))
        return;
    e.relation = Relation::None;
    e.note = "the steps of " + op.node->opType + " are not followed here; its inputs are named";
}

} // namespace qs
