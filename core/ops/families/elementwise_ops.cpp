// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/domains.h"
#include "core/ops/fact_tools.h"
#include "core/ops/families/parts.h"
#include "core/ops/op.h"

#include "core/tensor/convert.h"

#include <algorithm>

namespace qs {

namespace {

constexpr int64_t kMostFoldedElements = 1024; ///< values computed from shapes are short

Result<std::vector<Fact>> inferFloatTest(const InferContext& c)
{
    QS_CHECK(needInputs(c, 1));
    return one(fact(DType::Bool, c.inputs[0].dims));
}

/// Dims of all operands together; opsets before 7 broadcast the second operand to the first's shape.
Result<std::optional<Dims>> commonDims(const InferContext& c)
{
    if (c.node.opset > 0 && c.node.opset < 7 && c.inputs.size() == 2)
        return c.inputs[0].dims;
    std::vector<const Fact*> operands;
    for (size_t i = 0; i < c.inputs.size(); ++i)
        operands.push_back(c.input(i));
    return broadcastDims(c.node, operands);
}

int64_t combined(const std::string& type, int64_t a, int64_t b)
{
    using U = uint64_t; // wraps without undefined behaviour
    if (type == "Add" || type == "Sum")
        return int64_t(U(a) + U(b));
    if (type == "Sub")
        return int64_t(U(a) - U(b));
    if (type == "Mul")
        return int64_t(U(a) * U(b));
    if (type == "Div")
        return b == 0 ? 0 : b == -1 ? int64_t(0 - U(a)) : a / b;
    if (type == "Max")
        return std::max(a, b);
    if (type == "Min")
        return std::min(a, b);
    return a == b;
}

bool folds(const std::string& type)
{
    static const char* const types[] = { "Add", "Sum", "Sub", "Mul", "Div", "Max", "Min", "Equal" };
    return std::any_of(std::begin(types), std::end(types), [&](const char* t) { return type == t; });
}

/// Integers of a fact, repeated to `count` elements when it holds one.
std::optional<std::vector<int64_t>> spread(const Fact& f, size_t count)
{
    if (!f.value || (!isInteger(f.dtype) && f.dtype != DType::Bool) || f.value->count() > kMostFoldedElements)
        return std::nullopt;
    std::vector<int64_t> values = toInts(*f.value);
    if (values.size() == 1)
        values.resize(count, values[0]);
    return values.size() == count ? std::optional(values) : std::nullopt;
}

Tensor integers(DType type, const Shape& shape, const std::vector<int64_t>& values)
{
    if (type == DType::Int64)
        return Tensor::of(shape, values);
    if (type == DType::Int32)
        return Tensor::of(shape, std::vector<int32_t>(values.begin(), values.end()));
    Tensor t = Tensor::allocate(DType::Bool, shape);
    std::copy(values.begin(), values.end(), t.fill<uint8_t>().begin());
    return t;
}

/// Values of all inputs over the output's shape when each is known and of that shape or one element.
std::optional<std::vector<std::vector<int64_t>>> knownOperands(const InferContext& c, const Fact& out)
{
    const auto shape = out.dims ? toShape(*out.dims) : std::nullopt;
    const auto count = shape ? elementCount(*shape) : std::nullopt;
    if (!count || *count > kMostFoldedElements)
        return std::nullopt;
    std::vector<std::vector<int64_t>> operands;
    for (const Fact& in : c.inputs) {
        auto values = spread(in, static_cast<size_t>(*count));
        if (!values)
            return std::nullopt;
        operands.push_back(std::move(*values));
    }
    return operands;
}

bool foldable(DType type) { return type == DType::Int64 || type == DType::Int32 || type == DType::Bool; }

/// Integer arithmetic on values computed from shapes.
void foldIntegers(const InferContext& c, Fact& out)
{
    if (!folds(c.node.opType) || !foldable(out.dtype))
        return;
    auto operands = knownOperands(c, out);
    if (!operands || operands->empty())
        return;
    std::vector<int64_t> result = (*operands)[0];
    for (size_t k = 1; k < operands->size(); ++k)
        for (size_t i = 0; i < result.size(); ++i)
            result[i] = combined(c.node.opType, result[i], (*operands)[k][i]);
    out.value = integers(out.dtype, *toShape(*out.dims), result);
}

Result<std::vector<Fact>> inferArithmetic(const InferContext& c)
{
    QS_CHECK(needInputs(c, 1));
    QS_TRY(auto dims, commonDims(c));
    Fact out = fact(c.inputs[0].dtype, std::move(dims));
    foldIntegers(c, out);
    return one(std::move(out));
}

Result<std::vector<Fact>> inferBool(const InferContext& c)
{
    QS_CHECK(needInputs(c, 2));
    QS_TRY(auto dims, commonDims(c));
    Fact out = fact(DType::Bool, std::move(dims));
    foldIntegers(c, out);
    return one(std::move(out));
}

Result<std::vector<Fact>> inferPRelu(const InferContext& c)
{
    QS_CHECK(needInputs(c, 2));
    return inferSame(c);
}

Result<std::vector<Fact>> inferWhere(const InferContext& c)
{
    QS_CHECK(needInputs(c, 3));
    QS_TRY(auto dims, commonDims(c));
    Fact out = fact(c.inputs[1].dtype, std::move(dims));
    const auto operands = foldable(out.dtype) ? knownOperands(c, out) : std::nullopt;
    if (operands) {
        std::vector<int64_t> result;
        for (size_t i = 0; i < (*operands)[0].size(); ++i)
            result.push_back((*operands)[(*operands)[0][i] ? 1 : 2][i]);
        out.value = integers(out.dtype, *toShape(*out.dims), result);
    }
    return one(std::move(out));
}

Result<std::vector<Fact>> inferCast(const InferContext& c)
{
    QS_CHECK(needInputs(c, 1));
    const auto* number = c.node.attributes.get<int64_t>("to");
    Fact out = fact(number ? static_cast<DType>(*number) : DType::Undefined, c.inputs[0].dims);
    const auto operands = foldable(out.dtype) && out.dtype != DType::Bool ? knownOperands(c, out) : std::nullopt;
    if (operands)
        out.value = integers(out.dtype, *toShape(*out.dims), operands->front());
    return one(std::move(out));
}

Result<std::vector<Fact>> inferCastLike(const InferContext& c)
{
    QS_CHECK(needInputs(c, 2));
    return one(fact(c.inputs[1].dtype, c.inputs[0].dims));
}

} // namespace

void registerElementwiseOps(OpRegistry& r)
{
    for (const char* type : { "Neg", "Abs", "Ceil", "Floor", "Round", "Sign", "Relu", "Clip", "Not", "BitwiseNot" })
        r.add({ "", type, inferSame, Tolerance::Exact });
    for (const char* type :
        { "Sqrt", "Reciprocal", "HardSigmoid", "HardSwish", "LeakyRelu", "ThresholdedRelu", "Shrink" })
        r.add({ "", type, inferSame, Tolerance::OneUlp });
    for (const char* type :
        { "Exp", "Log", "Erf", "Sin", "Cos", "Tan", "Asin", "Acos", "Atan", "Sinh", "Cosh", "Asinh", "Acosh", "Atanh",
            "Sigmoid", "Tanh", "Softplus", "Softsign", "Mish", "Elu", "Selu", "Celu", "Gelu", "Swish" })
        r.add({ "", type, inferSame, Tolerance::Elementary });
    for (const char* type : { "Gelu", "FastGelu", "QuickGelu", "BiasGelu" })
        r.add({ kMicrosoftDomain, type, inferSame, Tolerance::Elementary });
    for (const char* type : { "Add", "Sub", "Mul", "Div", "Sum", "Mean" })
        r.add({ "", type, inferArithmetic, Tolerance::OneUlp });
    r.add({ "", "Pow", inferArithmetic, Tolerance::Elementary });
    r.add({ "", "PRelu", inferPRelu, Tolerance::OneUlp });
    for (const char* type : { "Max", "Min", "Mod", "BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor" })
        r.add({ "", type, inferArithmetic, Tolerance::Exact });
    for (const char* type : { "Equal", "Greater", "Less", "GreaterOrEqual", "LessOrEqual", "And", "Or", "Xor" })
        r.add({ "", type, inferBool, Tolerance::Exact });
    for (const char* type : { "IsNaN", "IsInf" })
        r.add({ "", type, inferFloatTest, Tolerance::Exact });
    r.add({ "", "Where", inferWhere, Tolerance::Exact });
    r.add({ "", "Cast", inferCast, Tolerance::Exact });
    r.add({ "", "CastLike", inferCastLike, Tolerance::Exact });
    registerExperimentalOps(r);
}

} // namespace qs
