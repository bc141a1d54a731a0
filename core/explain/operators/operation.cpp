// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/explain/operators/operation.h"

#include "core/base/rounding.h"
#include "core/qdq/qlinear_signature.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>

namespace qs {

size_t operandIndex(const Node& node, size_t slot)
{
    if (const auto signature = qlinearSignature(node)) {
        for (size_t i = 0; i < signature->inputs.size(); ++i)
            if (signature->inputs[i].codes == int(slot))
                return i;
        if (signature->bias == int(slot))
            return 2;
    }
    const bool lastIsBias = (node.opType == "MatMulIntegerToFloat" && slot == 6)
        || (node.opType == "DynamicQuantizeMatMul" && slot == 4) || (node.opType == "MatMulNBits" && slot == 5);
    return lastIsBias ? 2 : slot;
}

Operand operandAt(const Operation& op, size_t slot, int64_t element)
{
    Operand operand;
    operand.source = slot;
    operand.element = element;
    operand.real = elementAsDouble(op.inputs[slot], element);
    return operand;
}

Operand codeAt(const Operation& op, size_t slot, int64_t element, CodeGrid grid)
{
    Operand operand;
    operand.source = slot;
    operand.element = element;
    operand.code = elementAsInt(op.inputs[slot], element);
    operand.zeroPoint = grid.zeroPoint;
    operand.scale = double(grid.scale);
    operand.real = double(static_cast<float>(*operand.code - grid.zeroPoint) * grid.scale);
    return operand;
}

CodeGrid gridOf(const Operation& op, size_t scaleSlot, size_t zeroSlot)
{
    CodeGrid grid;
    if (const Tensor* scale = op.in(scaleSlot); scale && scale->count() > 0)
        grid.scale = static_cast<float>(elementAsDouble(*scale, 0));
    if (const Tensor* zero = op.in(zeroSlot); zero && zero->count() > 0 && isInteger(zero->dtype()))
        grid.zeroPoint = elementAsInt(*zero, 0);
    return grid;
}

void setCode(ElementExplanation& e, int64_t code, CodeGrid grid)
{
    e.code = code;
    e.zeroPoint = grid.zeroPoint;
    e.scale = double(grid.scale);
    e.real = double(static_cast<float>(code - grid.zeroPoint) * grid.scale);
}

int64_t roundToCode(ElementExplanation& e, float quotient, DType type, CodeGrid grid, bool clampFirst)
{
    const auto range = codeRange(type).value_or(CodeRange { 0, 0 });
    const auto zero = static_cast<float>(grid.zeroPoint);
    const float low = static_cast<float>(range.low) - zero, high = static_cast<float>(range.high) - zero;
    const float rounded = roundHalfEven(quotient);
    e.beforeRounding = double(quotient);
    e.clipped = rounded < low || rounded > high;
    float code = 0;
    if (clampFirst) {
        const auto kept = static_cast<float>(clampOr(quotient, low, high, low));
        e.steps.push_back({ "kept within the codes less the zero point", double(kept) });
        e.steps.push_back({ "rounded half to even", double(roundHalfEven(kept)) });
        code = roundHalfEven(kept) + zero;
        e.steps.push_back({ "plus zero point", double(code) });
    } else {
        e.steps.push_back({ "rounded half to even", double(rounded) });
        e.steps.push_back({ "plus zero point", double(rounded + zero) });
        code = static_cast<float>(clampOr(rounded + zero, double(range.low), double(range.high), double(range.low)));
        e.steps.push_back({ "kept within the codes", double(code) });
    }
    return static_cast<int64_t>(code);
}

void explainOperation(const Operation& op, int64_t element, ElementExplanation& e)
{
    for (const auto family : { explainFloatProduct, explainCodeProduct, explainBlockProduct, explainQuantizer,
             explainElementwise, explainCodeFunction, explainPool, explainMovement })
        if (family(op, element, e))
            return;
    explainOther(op, element, e);
}

} // namespace qs
