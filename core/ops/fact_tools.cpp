// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/ops/fact_tools.h"

#include "core/tensor/convert.h"

#include <algorithm>

namespace qs {

namespace {

constexpr int64_t kMaxKnownInts = 4096;
constexpr size_t kMaxPartlyKnown = 64; ///< each may have a name of its own; longer lists are no shapes

} // namespace

Dim sumOf(const Dim& a, const Dim& b)
{
    int64_t sum = 0;
    const bool fits = a.known() && b.known() && !__builtin_add_overflow(a.value, b.value, &sum);
    return fits ? knownDim(sum) : unknownDim();
}

Dim productOf(const Dim& a, int64_t factor)
{
    int64_t product = 0;
    const bool fits = a.known() && factor >= 0 && !__builtin_mul_overflow(a.value, factor, &product);
    return fits ? knownDim(product) : unknownDim();
}

bool sameDim(const Dim& a, const Dim& b)
{
    if (a.known() || b.known())
        return a.value == b.value;
    return !a.symbol.empty() && a.symbol == b.symbol;
}

std::optional<int64_t> dimProduct(std::span<const Dim> dims)
{
    Shape sizes;
    for (const Dim& d : dims)
        sizes.push_back(d.known() ? d.value : -1);
    return elementCount(sizes);
}

std::optional<std::vector<int64_t>> knownInts(const Fact* f)
{
    if (!f || !f->value || !isInteger(f->value->dtype()) || f->value->count() > kMaxKnownInts)
        return std::nullopt;
    return toInts(*f->value);
}

Fact intsFact(const std::vector<int64_t>& values, DType type, bool scalar)
{
    const Shape shape = scalar ? Shape {} : Shape { static_cast<int64_t>(values.size()) };
    Fact f = fact(type, toDims(shape));
    if (type == DType::Int64)
        f.value = Tensor::of<int64_t>(shape, values);
    if (type == DType::Int32)
        f.value = Tensor::of<int32_t>(shape, std::vector<int32_t>(values.begin(), values.end()));
    return f;
}

std::optional<std::vector<KnownInt>> partlyKnownInts(const Fact* f)
{
    if (f && f->ints)
        return f->ints;
    const auto values = f && f->dims && f->dims->size() <= 1 ? knownInts(f) : std::nullopt;
    if (!values)
        return std::nullopt;
    std::vector<KnownInt> out;
    for (const int64_t v : *values)
        out.push_back({ v, {} });
    return out;
}

Fact partlyKnownFact(std::vector<KnownInt> elements, DType type, bool scalar)
{
    std::vector<int64_t> numbers;
    for (const KnownInt& e : elements)
        if (e.number)
            numbers.push_back(*e.number);
    if (numbers.size() == elements.size())
        return intsFact(numbers, type, scalar);
    Fact f = fact(type, scalar ? Dims {} : Dims { knownDim(static_cast<int64_t>(elements.size())) });
    const bool some = std::any_of(elements.begin(), elements.end(), [](const KnownInt& e) { return e.known(); });
    if (some && elements.size() <= kMaxPartlyKnown)
        f.ints = std::move(elements);
    return f;
}

KnownInt toKnownInt(const Dim& dim) { return { dim.known() ? std::optional(dim.value) : std::nullopt, dim.symbol }; }

Dim toDim(const KnownInt& element) { return element.number ? knownDim(*element.number) : Dim { -1, element.symbol }; }

Fact withDims(const Fact& f, Dims dims)
{
    Fact out = fact(f.dtype, dims);
    const auto shape = toShape(dims);
    if (f.ints && shape && shape->size() <= 1 && elementCount(*shape) == static_cast<int64_t>(f.ints->size()))
        out.ints = f.ints;
    if (f.value && shape && elementCount(*shape) == f.value->count() && f.value->layout() == Layout::Plain)
        out.value = f.value->reshaped(*shape);
    return out;
}

Fact commonFact(const Fact& a, const Fact& b)
{
    Fact out;
    if (a.dtype != b.dtype)
        return out;
    out.dtype = a.dtype;
    if (a.element && b.element)
        out.element = std::make_shared<const Fact>(commonFact(*a.element, *b.element));
    if (!a.dims || !b.dims || a.dims->size() != b.dims->size())
        return out;
    out.dims = Dims(a.dims->size());
    for (size_t d = 0; d < a.dims->size(); ++d)
        if (sameDim((*a.dims)[d], (*b.dims)[d]))
            (*out.dims)[d] = (*a.dims)[d];
    return out;
}

Fact sequenceFact(Fact element)
{
    element.value.reset();
    element.ints.reset();
    Fact f = fact(DType::Sequence);
    f.element = std::make_shared<const Fact>(std::move(element));
    return f;
}

Fact elementFact(const Fact* sequence) { return sequence && sequence->element ? *sequence->element : Fact {}; }

Fact typeOnly(const Fact& f)
{
    Fact out = fact(f.dtype);
    if (f.element)
        out.element = std::make_shared<const Fact>(typeOnly(*f.element));
    return out;
}

Fact subgraphInputFact(const Graph& graph, size_t i, const Fact& given)
{
    const bool optional = graph.value(graph.inputs()[i]).type.container == "optional" || given.dtype == DType::NoValue;
    return optional ? Fact {} : given;
}

Dims loopInputDims(const Graph& body, size_t input)
{
    if (input >= body.inputs().size())
        return {};
    const auto& declared = body.value(body.inputs()[input]).type.dims;
    return declared && declared->size() == 1 ? Dims { knownDim(1) } : Dims {};
}

ListArgument listArgument(const InferContext& c, const std::string& name, size_t slot)
{
    if (c.node.attributes.has(name))
        return { true, c.node.attributes.integers(name) };
    if (const Fact* f = c.input(slot))
        return { true, knownInts(f) };
    return {};
}

Result<size_t> axisArgument(const Node& node, int64_t axis, size_t rank)
{
    if (const auto a = normalizedAxis(axis, rank))
        return *a;
    return inferIssue(
        node, "axis " + std::to_string(axis) + " does not exist in an input of rank " + std::to_string(rank));
}

Result<std::vector<size_t>> axesArgument(const Node& node, const std::vector<int64_t>& axes, size_t rank)
{
    std::vector<size_t> out;
    for (int64_t axis : axes) {
        QS_TRY(const size_t a, axisArgument(node, axis, rank));
        if (std::find(out.begin(), out.end(), a) != out.end())
            return inferIssue(node, "axis " + std::to_string(axis) + " is given twice");
        out.push_back(a);
    }
    return out;
}

Status needInputs(const InferContext& c, size_t count)
{
    for (size_t i = 0; i < count; ++i)
        if (!c.input(i))
            return inferIssue(c.node, "input " + std::to_string(i) + " is missing");
    return {};
}

std::optional<Tensor> constantNodeValue(const Node& node)
{
    const Attributes& a = node.attributes;
    if (const auto* t = a.get<Tensor>("value"))
        return *t;
    if (const auto* f = a.get<float>("value_float"))
        return Tensor::scalar<float>(*f);
    if (const auto* i = a.get<int64_t>("value_int"))
        return Tensor::scalar<int64_t>(*i);
    if (const auto* s = a.get<std::string>("value_string"))
        return Tensor::strings({}, { *s });
    if (const auto* f = a.get<std::vector<float>>("value_floats"))
        return Tensor::of<float>({ static_cast<int64_t>(f->size()) }, *f);
    if (const auto* i = a.get<std::vector<int64_t>>("value_ints"))
        return Tensor::of<int64_t>({ static_cast<int64_t>(i->size()) }, *i);
    if (const auto* s = a.get<std::vector<std::string>>("value_strings"))
        return Tensor::strings({ static_cast<int64_t>(s->size()) }, *s);
    return std::nullopt;
}

Dim dimOf(const Fact* f, size_t axis)
{
    return f && f->dims && axis < f->dims->size() ? (*f->dims)[axis] : unknownDim();
}

Result<std::vector<Fact>> inferSame(const InferContext& c)
{
    QS_CHECK(needInputs(c, 1));
    return std::vector<Fact> { fact(c.inputs[0].dtype, c.inputs[0].dims) };
}

} // namespace qs
