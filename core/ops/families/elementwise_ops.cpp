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

using Elements = std::vector<KnownInt>;

/// The same of elements of which only some are numbers. A name stands for a size, which is never negative.
KnownInt combined(const std::string& type, const KnownInt& a, const KnownInt& b)
{
    if (a.number && b.number)
        return { combined(type, *a.number, *b.number), {} };
    const bool sum = type == "Add" || type == "Sum", product = type == "Mul";
    if ((b.number == 0 && (sum || type == "Sub")) || (b.number == 1 && (product || type == "Div")))
        return a;
    if ((a.number == 0 && sum) || (a.number == 1 && product))
        return b;
    const bool named = !a.symbol.empty() || !b.symbol.empty();
    if (type == "Equal" && named && (a.number.value_or(0) < 0 || b.number.value_or(0) < 0))
        return { 0, {} };
    return {};
}

/// Elements of a fact as far as they are known, repeated to `count` when it holds one.
std::optional<Elements> spread(const Fact& f, size_t count)
{
    const auto shape = f.dims ? toShape(*f.dims) : std::nullopt;
    const auto own = shape ? elementCount(*shape) : std::nullopt;
    if (!own || *own > kMostFoldedElements || (!isInteger(f.dtype) && f.dtype != DType::Bool))
        return std::nullopt;
    Elements elements(static_cast<size_t>(*own));
    if (f.ints)
        elements = *f.ints;
    else if (f.value && f.value->count() == *own)
        for (size_t i = 0; const int64_t v : toInts(*f.value))
            elements[i++].number = v;
    if (elements.size() == 1)
        elements.resize(count, elements[0]);
    return elements.size() == count ? std::optional(std::move(elements)) : std::nullopt;
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

/// A value where all elements are numbers, else what is known of a scalar or list.
void setElements(Fact& out, Elements elements)
{
    std::vector<int64_t> numbers;
    for (const KnownInt& e : elements)
        if (e.number)
            numbers.push_back(*e.number);
    if (numbers.size() == elements.size())
        out.value = integers(out.dtype, *toShape(*out.dims), numbers);
    else if (out.dims->size() <= 1)
        out.ints = partlyKnownFact(std::move(elements), out.dtype).ints;
}

/// Elements of all inputs over the output's shape when each has that shape or one element.
std::optional<std::vector<Elements>> knownOperands(const InferContext& c, const Fact& out)
{
    const auto shape = out.dims ? toShape(*out.dims) : std::nullopt;
    const auto count = shape ? elementCount(*shape) : std::nullopt;
    if (!count || *count > kMostFoldedElements)
        return std::nullopt;
    std::vector<Elements> operands;
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
    Elements result = (*operands)[0];
    for (size_t k = 1; k < operands->size(); ++k)
        for (size_t i = 0; i < result.size(); ++i)
            result[i] = combined(c.node.opType, result[i], (*operands)[k][i]);
    setElements(out, std::move(result));
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
        Elements result;
        for (size_t i = 0; i < (*operands)[0].size(); ++i) {
            const auto which = (*operands)[0][i].number;
            const KnownInt &yes = (*operands)[1][i], &no = (*operands)[2][i];
            result.push_back(which ? *which ? yes : no : yes == no ? yes : KnownInt {});
        }
        setElements(out, std::move(result));
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
        setElements(out, operands->front());
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
