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
    if (sum) {
        e.relation = Relation::Sum;
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
    return true;
}

bool explainBatchNorm(const Operation& op, int64_t element, ElementExplanation& e)
{
    if (!op.node->is("BatchNormalization") || op.outputIndex != 0 || op.output.rank() < 2)
        return false;
    const Shape at = placeOf(op.output.shape(), element);
    for (size_t slot = 0; slot < 5; ++slot) {
        if (!op.in(slot) || (slot > 0 && op.inputs[slot].count() != op.output.dim(1)))
            return false;
        ElementTerm term;
        term.a = operandAt(op, slot, slot == 0 ? element : at[1]);
        e.terms.push_back(std::move(term));
    }
    if (op.node->attributes.integer("training_mode", 0) != 0)
        return true;
    const auto number = [&](size_t slot) { return e.terms[slot].a.real; };
    const double deviation = std::sqrt(number(4) + double(op.node->attributes.real("epsilon", 1e-5f)));
    const double value = (number(0) - number(3)) / deviation * number(1) + number(2);
    e.kind = ElementExplanation::Kind::Float;
    e.steps.push_back({ "square root of variance and epsilon", deviation });
    e.steps.push_back({ "input less mean, over it", (number(0) - number(3)) / deviation });
    e.steps.push_back({ "times scale, plus bias", value });
    const double size = std::abs(number(0) / deviation * number(1)) + std::abs(number(3) / deviation * number(1))
        + std::abs(number(2));
    const double near = op.output.dtype() == DType::Float32 ? 1e-5 : 2e-2;
    e.confirmed = !(std::abs(value - elementAsDouble(op.output, element)) > near * size);
    return true;
}

} // namespace

void explainOther(const Operation& op, int64_t element, ElementExplanation& e)
{
    e.kind = ElementExplanation::Kind::Other;
    for (const auto family : { explainRow, explainSkip, explainBatchNorm }) {
        if (family(op, element, e)) {
            e.relation = e.relation == Relation::None ? Relation::Function : e.relation;
            return;
        }
        e.terms.clear();
    }
    e.relation = Relation::None;
    e.note = "the steps of " + op.node->opType + " are not followed here; its inputs are named";
}

} // namespace qs
