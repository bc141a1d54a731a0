// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/explain/operators/operation.h"
#include "core/tensor/convert.h"

#include <array>
#include <cmath>
#include <string_view>

/// Element by element, with broadcasting: Add, Sub, Mul, Relu, Clip and functions.
namespace qs {

namespace {

constexpr std::array<std::string_view, 46> kFunctions { "Abs", "Acos", "Acosh", "And", "Asin", "Asinh", "Atan", "Atanh",
    "BitShift", "Ceil", "Celu", "Cos", "Cosh", "Div", "Elu", "Equal", "Erf", "Exp", "Floor", "Gelu", "Greater",
    "GreaterOrEqual", "HardSigmoid", "HardSwish", "LeakyRelu", "Less", "LessOrEqual", "Log", "Max", "Min", "Mish",
    "Mod", "Neg", "Not", "Or", "PRelu", "Pow", "Reciprocal", "Round", "Selu", "Sigmoid", "Sign", "Sin", "Softplus",
    "Sqrt", "Tanh" };
constexpr std::array<std::string_view, 14> kMoreFunctions { "Affine", "Cast", "ImageScaler", "ParametricSoftplus",
    "QuickGelu", "Scale", "ScaledTanh", "Sinh", "Softsign", "Swish", "Tan", "ThresholdedRelu", "Where", "Xor" };

bool isFunction(const std::string& type)
{
    return std::ranges::find(kFunctions, type) != kFunctions.end()
        || std::ranges::find(kMoreFunctions, type) != kMoreFunctions.end();
}

Operand broadcastAt(const Operation& op, size_t slot, int64_t element)
{
    return operandAt(op, slot, broadcastElement(op.output.shape(), element, op.inputs[slot].shape()));
}

/// Every input can be broadcast to the output.
bool fits(const Operation& op)
{
    bool any = false;
    for (const Tensor& input : op.inputs) {
        if (!input.valid())
            continue;
        const auto shape = broadcastShapes(input.shape(), op.output.shape());
        if (!shape || *shape != op.output.shape() || dtypeBits(input.dtype()) == 0)
            return false;
        any = true;
    }
    return any;
}

double boundOf(const Operation& op, size_t slot, const char* name, double open)
{
    if (const Tensor* bound = op.in(slot); bound && bound->count() == 1)
        return elementAsDouble(*bound, 0);
    return op.node->attributes.has(name) ? double(op.node->attributes.real(name, 0)) : open;
}

void explainClamp(const Operation& op, int64_t element, ElementExplanation& e)
{
    e.relation = Relation::Clamp;
    const bool relu = op.node->opType == "Relu";
    e.low = relu ? 0 : boundOf(op, 1, "min", e.low);
    e.high = relu ? e.high : boundOf(op, 2, "max", e.high);
    ElementTerm term;
    term.a = operandAt(op, 0, element);
    const double kept = std::min(std::max(term.a.real, e.low), e.high);
    e.terms.push_back(std::move(term));
    e.steps.push_back({ "kept within the bounds", kept });
    const double made = elementAsDouble(op.output, element);
    e.confirmed = kept == made || std::isnan(made);
}

/// Integers wrap around at the ends of their type. `value` is the number modulo 2^64, `plain` about how large it is.
bool wrapsTo(uint64_t value, double plain, const Operation& op, int64_t element, ElementExplanation& e)
{
    const size_t bits = dtypeBits(op.output.dtype());
    const double made = elementAsDouble(op.output, element);
    if (std::abs(plain - made) > std::abs(plain) * 0x1p-40)
        e.steps.push_back({ "wrapped to " + std::string(dtypeName(op.output.dtype())), made });
    const uint64_t mask = bits >= 64 ? UINT64_MAX : (uint64_t(1) << bits) - 1;
    return ((value ^ uint64_t(elementAsInt(op.output, element))) & mask) == 0;
}

void explainSum(const Operation& op, int64_t element, ElementExplanation& e)
{
    e.relation = Relation::Sum;
    double sum = 0, size = 0;
    uint64_t whole = 0;
    for (size_t slot = 0; slot < op.inputs.size(); ++slot) {
        if (!op.in(slot))
            continue;
        ElementTerm term;
        term.a = broadcastAt(op, slot, element);
        term.sign = op.node->opType == "Sub" && slot == 1 ? -1 : 1;
        sum += term.sign * term.a.real;
        size += std::abs(term.a.real);
        if (isInteger(op.inputs[slot].dtype())) {
            const auto integer = uint64_t(elementAsInt(op.inputs[slot], term.a.element));
            whole += term.sign < 0 ? -integer : integer;
        }
        e.terms.push_back(std::move(term));
    }
    e.steps.push_back({ "sum", sum });
    const double made = elementAsDouble(op.output, element);
    const double near = op.output.dtype() == DType::Float32 ? 1e-6 : 2e-2;
    if (isFloat(op.output.dtype()))
        e.confirmed = !std::isfinite(sum) || std::abs(sum - made) <= near * size;
    else
        e.confirmed = wrapsTo(whole, sum, op, element, e);
}

void explainMul(const Operation& op, int64_t element, ElementExplanation& e)
{
    e.relation = Relation::Products;
    ElementTerm term;
    term.a = broadcastAt(op, 0, element);
    term.b = broadcastAt(op, 1, element);
    const double product = term.a.real * term.b->real, made = elementAsDouble(op.output, element);
    e.terms.push_back(std::move(term));
    e.steps.push_back({ "product", product });
    const double near = op.output.dtype() == DType::Float32 ? 1e-6 : 2e-2;
    if (isInteger(op.output.dtype()) && isInteger(op.inputs[0].dtype()) && isInteger(op.inputs[1].dtype())) {
        const ElementTerm& factors = e.terms.back();
        const auto a = uint64_t(elementAsInt(op.inputs[0], factors.a.element));
        const auto b = uint64_t(elementAsInt(op.inputs[1], factors.b->element));
        e.confirmed = wrapsTo(a * b, product, op, element, e);
        return;
    }
    e.confirmed = !std::isfinite(product) || std::abs(product - made) <= near * std::abs(product) + 1e-37;
}

} // namespace

bool explainElementwise(const Operation& op, int64_t element, ElementExplanation& e)
{
    const std::string& type = op.node->opType;
    const bool sum = type == "Add" || type == "Sub" || type == "Sum";
    const bool clamp = type == "Relu" || type == "Clip";
    if ((!sum && !clamp && type != "Mul" && !isFunction(type)) || !op.in(0) || !fits(op))
        return false;
    e.kind = isFloat(op.output.dtype()) ? ElementExplanation::Kind::Float : ElementExplanation::Kind::Other;
    if (clamp)
        explainClamp(op, element, e);
    else if (sum)
        explainSum(op, element, e);
    else if (type == "Mul" && op.in(1))
        explainMul(op, element, e);
    else {
        e.relation = Relation::Function;
        for (size_t slot = 0; slot < op.inputs.size(); ++slot)
            if (op.in(slot)) {
                ElementTerm term;
                term.a = broadcastAt(op, slot, element);
                e.terms.push_back(std::move(term));
            }
        if (type == "Cast" && e.terms[0].a.real == elementAsDouble(op.output, element)) {
            e.relation = Relation::Copy; // where the type does not hold the number, a function of it
            e.confirmed = true;
        }
    }
    return true;
}

} // namespace qs
