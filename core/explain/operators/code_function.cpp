// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/rounding.h"
#include "core/explain/operators/operation.h"
#include "core/graph/domains.h"
#include "core/kernels/quantize/qlinear.h"
#include "core/tensor/convert.h"

#include <cmath>
#include <limits>

/// com.microsoft's functions of 8-bit codes that are no products of matrices: QLinearAdd, QLinearMul, QLinearSigmoid,
/// QLinearLeakyRelu, QLinearSoftmax.
namespace qs {

namespace {

bool holdsCodes(const Operation& op, size_t slot)
{
    return op.in(slot) && (op.inputs[slot].dtype() == DType::UInt8 || op.inputs[slot].dtype() == DType::Int8);
}

Grid kernelGrid(CodeGrid grid) { return { grid.scale, static_cast<int32_t>(grid.zeroPoint) }; }

ElementTerm codeTerm(const Operation& op, size_t slot, int64_t element)
{
    ElementTerm term;
    term.a = codeAt(op, slot, element, gridOf(op, slot + 1, slot + 2));
    return term;
}

/// The code of a sum of two codes in the order of its operations: the second operand is taken in first.
float sumInSteps(const Operand& first, const Operand& second, CodeGrid out)
{
    const float ra = float(*first.scale) / out.scale, rb = float(*second.scale) / out.scale;
    const float shift = std::fma(ra, float(first.zeroPoint), rb * float(second.zeroPoint));
    const float fixed = float(out.zeroPoint) - shift;
    return std::fma(float(*first.code), ra, std::fma(float(*second.code), rb, fixed));
}

int64_t nearest(float v, DType type)
{
    const CodeRange range = *codeRange(type);
    return static_cast<int64_t>(
        clampOr(double(roundHalfEven(v)), double(range.low), double(range.high), double(range.low)));
}

void finish(ElementExplanation& e, float v, CodeGrid out, const Operation& op, int64_t element)
{
    const DType type = op.output.dtype();
    const CodeRange range = *codeRange(type);
    const float rounded = roundHalfEven(v);
    e.steps.push_back({ "rounded half to even", double(rounded) });
    e.clipped = rounded < float(range.low) || rounded > float(range.high);
    const int64_t made = elementAsInt(op.output, element);
    e.steps.push_back({ "kept within the codes", double(nearest(v, type)) });
    e.confirmed = nearest(v, type) == made;
    setCode(e, made, out);
}

void explainSum(const Operation& op, int64_t element, ElementExplanation& e, CodeGrid out)
{
    e.relation = Relation::Sum;
    const Operand &a = e.terms[0].a, &b = e.terms[1].a;
    // An operand that is repeated along a run of elements comes first; which runs there are depends on both shapes.
    float v = sumInSteps(a, b, out);
    const float other = sumInSteps(b, a, out);
    if (nearest(v, op.output.dtype()) != elementAsInt(op.output, element))
        v = other;
    e.beforeRounding = double(v) - double(out.zeroPoint);
    e.steps.push_back({ "both in steps of the output, plus its zero point", double(v) });
    finish(e, v, out, op, element);
}

void explainMul(const Operation& op, int64_t element, ElementExplanation& e, CodeGrid out)
{
    e.relation = Relation::Products;
    ElementTerm& term = e.terms[0];
    term.b = e.terms[1].a;
    term.product = (*term.a.code - term.a.zeroPoint) * (*term.b->code - term.b->zeroPoint);
    term.sum = static_cast<int32_t>(*term.product);
    e.terms.pop_back();
    e.accumulator = term.sum;
    const float ratio = float(*term.a.scale) * float(*term.b->scale) / out.scale;
    const float v = float(*term.sum) * ratio;
    e.multiplier = double(ratio);
    e.beforeRounding = double(v);
    e.steps.push_back({ "product of codes less zero points", double(*term.sum) });
    e.steps.push_back({ "times scale * scale / output scale", double(v) });
    e.steps.push_back({ "plus zero point", double(v + float(out.zeroPoint)) });
    finish(e, v + float(out.zeroPoint), out, op, element);
}

void explainFunction(const Operation& op, int64_t element, ElementExplanation& e, CodeGrid out)
{
    e.relation = Relation::Function;
    const float x = static_cast<float>(e.terms[0].a.real);
    const bool leaky = op.node->opType == "QLinearLeakyRelu";
    const float alpha = op.node->attributes.real("alpha", 0.01f);
    const float y = !leaky ? static_cast<float>(1 / (1 + std::exp(-double(x)))) : x >= 0 ? x : alpha * x;
    e.steps.push_back({ "function of the real number", double(y) });
    e.steps.push_back({ "divided by output scale", double(y / out.scale) });
    const int64_t code = roundToCode(e, y / out.scale, op.output.dtype(), out, false);
    e.confirmed = code == elementAsInt(op.output, element);
    setCode(e, elementAsInt(op.output, element), out);
}

/// The elements of the row that a softmax sums over.
std::vector<int64_t> softmaxRow(const Operation& op, int64_t element)
{
    const Shape& shape = op.inputs[0].shape();
    const bool flattens = op.node->attributes.integer("opset", 13) < 13;
    const auto axis = normalizedAxis(op.node->attributes.integer("axis", flattens ? 1 : -1), shape.size()).value_or(0);
    int64_t length = 1, inner = 1;
    for (size_t i = axis; i < shape.size(); ++i)
        (i == axis || flattens ? length : inner) *= shape[i];
    std::vector<int64_t> row;
    for (int64_t i = 0; i < length; ++i)
        row.push_back(element / (length * inner) * length * inner + i * inner + element % inner);
    return row;
}

template <class T>
float softmaxCode(const Operation& op, const std::vector<int64_t>& row, size_t own, CodeGrid in, CodeGrid out, T& code)
{
    std::vector<T> x, y(row.size());
    std::vector<float> real(row.size());
    for (const int64_t i : row)
        x.push_back(static_cast<T>(elementAsInt(op.inputs[0], i)));
    qlinearSoftmaxRow(
        makeSoftmaxTable(in.scale, row.size()), kernelGrid(out), x.data(), y.data(), real.data(), row.size(), 1);
    code = y[own];
    return real[own];
}

void explainSoftmax(const Operation& op, int64_t element, ElementExplanation& e, CodeGrid out)
{
    e.relation = Relation::Function;
    const auto row = softmaxRow(op, element);
    e.terms.clear();
    size_t own = 0;
    for (size_t i = 0; i < row.size(); ++i) {
        e.terms.push_back(codeTerm(op, 0, row[i]));
        if (row[i] == element)
            own = e.terms.size() - 1;
    }
    e.terms[own].chosen = true;
    const CodeGrid in = gridOf(op, 1, 2);
    uint8_t plain = 0;
    int8_t withSign = 0;
    const bool isSigned = op.inputs[0].dtype() == DType::Int8;
    const float real
        = isSigned ? softmaxCode(op, row, own, in, out, withSign) : softmaxCode(op, row, own, in, out, plain);
    e.beforeRounding = double(real) / double(out.scale);
    e.steps.push_back({ "power of e over the sum of the row's", double(real) });
    e.steps.push_back({ "in steps of the output", *e.beforeRounding });
    const int64_t made = elementAsInt(op.output, element);
    e.confirmed = (isSigned ? int64_t(withSign) : int64_t(plain)) == made;
    setCode(e, made, out);
}

} // namespace

bool explainCodeFunction(const Operation& op, int64_t element, ElementExplanation& e)
{
    const Node& node = *op.node;
    if (node.domain != kMicrosoftDomain || !holdsCodes(op, 0))
        return false;
    const bool sum = node.opType == "QLinearAdd", product = node.opType == "QLinearMul";
    const bool softmax = node.opType == "QLinearSoftmax";
    const bool function = node.opType == "QLinearSigmoid" || node.opType == "QLinearLeakyRelu";
    if ((!sum && !product && !softmax && !function) || ((sum || product) && !holdsCodes(op, 3)))
        return false;
    e.kind = ElementExplanation::Kind::Integer;
    const bool two = sum || product;
    const Shape& shape = op.output.shape();
    e.terms.push_back(codeTerm(op, 0, broadcastElement(shape, element, op.inputs[0].shape())));
    if (two)
        e.terms.push_back(codeTerm(op, 3, broadcastElement(shape, element, op.inputs[3].shape())));
    const CodeGrid out = gridOf(op, two ? 6 : 3, two ? 7 : 4);
    if (sum)
        explainSum(op, element, e, out);
    else if (product)
        explainMul(op, element, e, out);
    else if (softmax)
        explainSoftmax(op, element, e, out);
    else
        explainFunction(op, element, e, out);
    return true;
}

} // namespace qs
