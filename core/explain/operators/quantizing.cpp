// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/rounding.h"
#include "core/explain/operators/operation.h"
#include "core/kernels/quantize/quantize.h"
#include "core/qdq/qlinear_signature.h"
#include "core/tensor/convert.h"

#include <cmath>

/// QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear.
namespace qs {

CodeGrid gridAt(const Operation& op, int64_t element)
{
    const Tensor* scale = op.in(1);
    if (!scale || scale->count() <= 1)
        return gridOf(op, 1, 2);
    const Shape& shape = op.inputs[0].shape();
    const size_t axis = normalizedAxis(op.node->attributes.integer("axis", 1), shape.size()).value_or(0);
    const int64_t block = op.node->attributes.integer("block_size", 0);
    Shape at = placeOf(shape, element);
    int64_t index = at[axis];
    if (block > 0) {
        at[axis] /= block;
        index = elementOf(scale->shape(), at);
    }
    CodeGrid grid { static_cast<float>(elementAsDouble(*scale, index)), 0 };
    if (const Tensor* zero = op.in(2); zero && isInteger(zero->dtype()))
        grid.zeroPoint = elementAsInt(*zero, zero->count() == 1 ? 0 : index);
    return grid;
}

namespace {

void addRange(const Operation& op, ElementExplanation& e, CodeGrid& grid)
{
    const auto x = toFloats(op.inputs[0]);
    const FloatRange range = rangeWithZero(x.data(), x.size());
    const DynamicScale made = dynamicScale(range);
    grid = { made.scale, made.zeroPoint };
    e.steps.push_back({ "lowest element, or 0", double(range.low) });
    e.steps.push_back({ "highest element, or 0", double(range.high) });
    e.steps.push_back({ "scale", double(made.scale) });
    e.steps.push_back({ "zero point", double(made.zeroPoint) });
}

double roundedTo(DType type, double real)
{
    const auto value = static_cast<float>(real);
    return type == DType::Float16 ? double(float16ToFloat(floatToFloat16(value)))
        : type == DType::BFloat16 ? double(bfloat16ToFloat(floatToBFloat16(value)))
                                  : real;
}

void explainQuantize(const Operation& op, int64_t element, ElementExplanation& e, CodeGrid grid)
{
    ElementTerm term;
    term.a = operandAt(op, 0, element);
    const double x = term.a.real;
    e.terms.push_back(std::move(term));
    const DType type = op.output.dtype();
    if (!isInteger(type)) { // float8 and float4
        e.scale = double(grid.scale);
        e.real = elementAsDouble(op.output, element) * double(grid.scale);
        const float quotient = static_cast<float>(x) / grid.scale;
        const bool saturates = op.node->attributes.integer("saturate", 1) != 0;
        const float rounded = smallFloatToFloat(type, floatToSmallFloat(type, quotient, saturates));
        const double made = elementAsDouble(op.output, element);
        e.beforeRounding = double(quotient);
        e.steps.push_back({ "divided by scale", double(quotient) });
        e.steps.push_back({ "rounded to " + std::string(dtypeName(type)), double(rounded) });
        if (op.inputs[0].dtype() == DType::Float32)
            e.confirmed = double(rounded) == made || (std::isnan(rounded) && std::isnan(made));
        return;
    }
    const float quotient = static_cast<float>(x) / grid.scale;
    e.steps.push_back({ "divided by scale", double(quotient) });
    const int64_t code = roundToCode(e, quotient, type, grid, false);
    const int64_t made = elementAsInt(op.output, element);
    // Other types than float32 may divide in another precision, which moves ties.
    const bool single = op.inputs[0].dtype() == DType::Float32;
    e.confirmed = single ? code == made : std::abs(code - made) <= 1;
    setCode(e, made, grid);
}

} // namespace

bool explainQuantizer(const Operation& op, int64_t element, ElementExplanation& e)
{
    if (!op.in(0))
        return false;
    if (isQuantizeLinear(*op.node)) {
        e.kind = ElementExplanation::Kind::Quantize;
        e.relation = Relation::Quantize;
        explainQuantize(op, element, e, gridAt(op, element));
        return true;
    }
    if (op.node->is("DynamicQuantizeLinear") && op.outputIndex == 0) {
        e.kind = ElementExplanation::Kind::Quantize;
        e.relation = Relation::Quantize;
        CodeGrid grid;
        addRange(op, e, grid);
        explainQuantize(op, element, e, grid);
        return true;
    }
    if (op.node->is("DynamicQuantizeLinear")) {
        CodeGrid grid;
        addRange(op, e, grid);
        e.note = "the scale and the zero point follow from the range of all elements";
        const double made = elementAsDouble(op.output, element);
        e.confirmed = made == (op.outputIndex == 1 ? double(grid.scale) : double(grid.zeroPoint));
        return true;
    }
    if (!isDequantizeLinear(*op.node))
        return false;
    e.kind = ElementExplanation::Kind::Dequantize;
    e.relation = Relation::Dequantize;
    const CodeGrid grid = gridAt(op, element);
    ElementTerm term;
    if (isInteger(op.inputs[0].dtype())) {
        term.a = codeAt(op, 0, element, grid);
        setCode(e, *term.a.code, grid);
        e.steps.push_back({ "code less zero point", double(*term.a.code - grid.zeroPoint) });
    } else {
        term.a = operandAt(op, 0, element);
        term.a.real *= double(grid.scale);
        e.scale = double(grid.scale);
    }
    const double real = double(static_cast<float>(term.a.real));
    e.terms.push_back(std::move(term));
    e.steps.push_back({ "times scale", real });
    const double made = elementAsDouble(op.output, element);
    const double rounded = roundedTo(op.output.dtype(), real);
    if (op.output.dtype() != DType::Float32)
        e.steps.push_back({ "rounded to " + std::string(dtypeName(op.output.dtype())), rounded });
    e.confirmed = rounded == made || (std::isnan(rounded) && std::isnan(made));
    return true;
}

} // namespace qs
