// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/domains.h"
#include "core/ops/fact_tools.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>

/// Operators that make, ask for or change shapes.
namespace qs {

namespace {

using Facts = std::vector<Fact>;
constexpr int64_t kMaxRank = 64; ///< beyond it a shape tensor says nothing believable

Result<Facts> inferConstant(const InferContext& c)
{
    const auto value = constantNodeValue(c.node);
    if (!value)
        return inferIssue(c.node, "its value is of a kind that cannot be read (a sparse tensor, or missing)");
    return Facts { constantFact(*value) };
}

/// Dims that a shape tensor describes: its numbers, or unknown sizes of a known rank.
std::optional<Dims> dimsFrom(const Fact& shape)
{
    if (const auto elements = partlyKnownInts(&shape)) {
        Dims out;
        for (const KnownInt& e : *elements)
            out.push_back(toDim(e));
        return out;
    }
    if (shape.dims && shape.dims->size() == 1 && (*shape.dims)[0].known() && (*shape.dims)[0].value <= kMaxRank)
        return Dims(static_cast<size_t>((*shape.dims)[0].value));
    return std::nullopt;
}

Result<Facts> inferConstantOfShape(const InferContext& c)
{
    QS_CHECK(needInputs(c, 1));
    const auto* value = c.node.attributes.get<Tensor>("value");
    if (const auto sizes = knownInts(c.input(0))) {
        const auto count = elementCount(*sizes);
        if (!count)
            return inferIssue(c.node, "the shape " + shapeText(*sizes) + " is impossible");
        if (value && value->dtype() == DType::Int64 && value->count() == 1 && sizes->size() == 1 && *count <= kMaxRank)
            return Facts { intsFact(std::vector<int64_t>(size_t(*count), elementAsInt(*value, 0)), DType::Int64) };
    }
    return Facts { fact(value ? value->dtype() : DType::Float32, dimsFrom(*c.input(0))) };
}

Result<Facts> inferShape(const InferContext& c)
{
    QS_CHECK(needInputs(c, 1));
    const auto& dims = c.input(0)->dims;
    if (!dims)
        return Facts { fact(DType::Int64, Dims(1)) };
    const auto rank = static_cast<int64_t>(dims->size());
    const auto bound = [&](const char* name, int64_t fallback) {
        const int64_t v = c.node.attributes.integer(name, fallback);
        return std::clamp<int64_t>(v < 0 ? v + rank : v, 0, rank);
    };
    const int64_t start = bound("start", 0), end = std::max(bound("end", rank), start);
    std::vector<KnownInt> part;
    for (int64_t i = start; i < end; ++i)
        part.push_back(toKnownInt((*dims)[static_cast<size_t>(i)]));
    return Facts { partlyKnownFact(std::move(part), DType::Int64) };
}

Result<Facts> inferSize(const InferContext& c)
{
    QS_CHECK(needInputs(c, 1));
    if (c.input(0)->dims)
        if (const auto count = dimProduct(*c.input(0)->dims))
            return Facts { intsFact({ *count }, DType::Int64, true) };
    return Facts { fact(DType::Int64, Dims {}) };
}

/// The size that stands for -1: what the known sizes leave, or the one name that is left.
Dim restDim(const Dims& from, const Dims& to, size_t rest)
{
    Dims unknownFrom, knownFrom, unknownTo, knownTo;
    for (const Dim& d : from)
        (d.known() ? knownFrom : unknownFrom).push_back(d);
    for (size_t i = 0; i < to.size(); ++i)
        if (i != rest)
            (to[i].known() ? knownTo : unknownTo).push_back(to[i]);
    for (const Dim& d : unknownTo) {
        const auto it
            = std::find_if(unknownFrom.begin(), unknownFrom.end(), [&](const Dim& f) { return sameDim(f, d); });
        if (it == unknownFrom.end())
            return unknownDim();
        unknownFrom.erase(it);
    }
    const auto a = dimProduct(knownFrom), b = dimProduct(knownTo);
    if (!a || !b || *b == 0 || *a % *b != 0)
        return unknownDim();
    if (unknownFrom.empty())
        return knownDim(*a / *b);
    return unknownFrom.size() == 1 && *a == *b ? unknownFrom.front() : unknownDim();
}

/// Elements of Reshape's new shape; nullopt where not even some are known.
std::optional<std::vector<KnownInt>> newShape(const InferContext& c)
{
    if (!c.node.attributes.has("shape"))
        return partlyKnownInts(c.input(1));
    std::vector<KnownInt> out;
    for (const int64_t v : c.node.attributes.integers("shape"))
        out.push_back({ v, {} });
    return out;
}

std::string elementsText(const std::vector<KnownInt>& shape)
{
    std::string text;
    for (const KnownInt& e : shape) {
        text += text.empty() ? "" : "x";
        text += e.number ? std::to_string(*e.number) : e.symbol.empty() ? "?" : e.symbol;
    }
    return text.empty() ? "scalar" : text;
}

Result<Facts> inferReshape(const InferContext& c)
{
    QS_CHECK(needInputs(c, 1));
    const Fact& data = *c.input(0);
    if (!c.node.attributes.has("shape") && !c.input(1))
        return inferIssue(c.node, "the new shape is missing");
    const auto shape = newShape(c);
    if (!shape)
        return Facts { fact(data.dtype, dimsFrom(*c.input(1))) };
    const bool allowZero = c.node.attributes.integer("allowzero", 0) != 0;
    Dims out;
    std::optional<size_t> rest;
    bool numbers = true;
    for (size_t i = 0; i < shape->size(); ++i) {
        const KnownInt& e = (*shape)[i];
        numbers = numbers && e.number;
        if (e.number && (*e.number < -1 || (*e.number == -1 && rest)))
            return inferIssue(c.node, "the new shape " + elementsText(*shape) + " is impossible");
        if (e.number == -1)
            rest = i;
        if (e.number == 0 && !allowZero && data.dims && i >= data.dims->size())
            return inferIssue(c.node, "the new shape copies a size that the input does not have");
        if (e.number == 0 && !allowZero)
            out.push_back(data.dims ? (*data.dims)[i] : unknownDim());
        else
            out.push_back(e.number == -1 ? unknownDim() : toDim(e));
    }
    if (rest && data.dims)
        out[*rest] = restDim(*data.dims, out, *rest);
    if (numbers && data.dims && toShape(*data.dims)) {
        const auto before = dimProduct(*data.dims), after = dimProduct(out);
        if (!after || before != after)
            return inferIssue(
                c.node, "an input of shape " + dimsText(*data.dims) + " cannot take the shape " + elementsText(*shape));
    }
    return Facts { withDims(data, out) };
}

Result<Facts> inferFlatten(const InferContext& c)
{
    QS_CHECK(needInputs(c, 1));
    const Fact& data = *c.input(0);
    if (!data.dims)
        return Facts { fact(data.dtype, Dims(2)) };
    const auto rank = static_cast<int64_t>(data.dims->size());
    int64_t axis = c.node.attributes.integer("axis", 1);
    if (axis < -rank || axis > rank)
        return inferIssue(
            c.node, "axis " + std::to_string(axis) + " does not exist in an input of rank " + std::to_string(rank));
    axis = axis < 0 ? axis + rank : axis;
    const auto side = [&](int64_t from, int64_t to) -> Dim {
        Dims kept;
        for (int64_t i = from; i < to; ++i)
            if (const Dim& d = (*data.dims)[static_cast<size_t>(i)]; d.value != 1)
                kept.push_back(d);
        if (kept.size() == 1)
            return kept.front();
        const auto product = dimProduct(kept);
        return product ? knownDim(*product) : unknownDim();
    };
    return Facts { withDims(data, { side(0, axis), side(axis, rank) }) };
}

Result<Facts> inferSqueeze(const InferContext& c)
{
    QS_CHECK(needInputs(c, 1));
    const Fact& data = *c.input(0);
    const ListArgument axes = listArgument(c, "axes", 1);
    if (!data.dims || (axes.given && !axes.values))
        return Facts { fact(data.dtype) };
    Dims out;
    if (!axes.given) {
        for (const Dim& d : *data.dims) {
            if (!d.known())
                return Facts { fact(data.dtype) };
            if (d.value != 1)
                out.push_back(d);
        }
        return Facts { withDims(data, out) };
    }
    QS_TRY(const auto dropped, axesArgument(c.node, *axes.values, data.dims->size()));
    for (size_t i = 0; i < data.dims->size(); ++i) {
        const Dim& d = (*data.dims)[i];
        if (std::find(dropped.begin(), dropped.end(), i) == dropped.end())
            out.push_back(d);
        else if (d.known() && d.value != 1)
            return inferIssue(c.node,
                "axis " + std::to_string(i) + " of size " + std::to_string(d.value) + " cannot be squeezed away");
    }
    return Facts { withDims(data, out) };
}

Result<Facts> inferUnsqueeze(const InferContext& c)
{
    QS_CHECK(needInputs(c, 1));
    const Fact& data = *c.input(0);
    const ListArgument axes = listArgument(c, "axes", 1);
    if (!axes.given)
        return inferIssue(c.node, "the axes are missing");
    if (!data.dims || !axes.values)
        return Facts { fact(data.dtype) };
    QS_TRY(const auto added, axesArgument(c.node, *axes.values, data.dims->size() + axes.values->size()));
    Dims out;
    auto next = data.dims->begin();
    for (size_t i = 0; i < data.dims->size() + added.size(); ++i)
        out.push_back(std::find(added.begin(), added.end(), i) != added.end() ? knownDim(1) : *next++);
    return Facts { withDims(data, out) };
}

Result<Facts> inferIdentity(const InferContext& c)
{
    QS_CHECK(needInputs(c, 1));
    return Facts { *c.input(0) };
}

Result<Facts> inferBitCast(const InferContext& c)
{
    QS_CHECK(needInputs(c, 1));
    const int64_t to = c.node.attributes.integer("to", 0);
    if (to <= 0 || to > int64_t(DType::Int2) || to == int64_t(DType::String))
        return inferIssue(c.node, "the type number " + std::to_string(to) + " is unknown");
    const auto type = static_cast<DType>(to);
    const DType from = c.input(0)->dtype;
    if (from != DType::Undefined && dtypeBits(from) != dtypeBits(type))
        return inferIssue(
            c.node, std::string(dtypeName(from)) + " and " + std::string(dtypeName(type)) + " differ in size");
    return Facts { fact(type, c.input(0)->dims) };
}

Result<Facts> inferDropout(const InferContext& c)
{
    QS_CHECK(needInputs(c, 1));
    const Fact& data = *c.input(0);
    return Facts { data, fact(c.node.opset >= 10 ? DType::Bool : data.dtype, data.dims) };
}

std::optional<double> knownNumber(const Fact* f)
{
    if (!f || !f->value || f->value->count() != 1)
        return std::nullopt;
    return elementAsDouble(*f->value, 0);
}

Result<Facts> inferRange(const InferContext& c)
{
    QS_CHECK(needInputs(c, 3));
    const auto start = knownNumber(c.input(0)), limit = knownNumber(c.input(1)), delta = knownNumber(c.input(2));
    Dims dims(1);
    if (delta && *delta == 0)
        return inferIssue(c.node, "the step is 0");
    const auto end = partlyKnownInts(c.input(1));
    if (start == 0.0 && delta == 1.0 && end && end->size() == 1 && !end->front().number)
        dims[0] = toDim(end->front());
    if (start && limit && delta) {
        const double count = std::max(0.0, std::ceil((*limit - *start) / *delta));
        if (count < 9e15)
            dims[0] = knownDim(static_cast<int64_t>(count));
    }
    return Facts { fact(c.input(0)->dtype, dims) };
}

Result<Facts> inferEyeLike(const InferContext& c)
{
    QS_CHECK(needInputs(c, 1));
    const int64_t type = c.node.attributes.integer("dtype", 0);
    if (type < 0 || type > int64_t(DType::Int2))
        return inferIssue(c.node, "the type number " + std::to_string(type) + " is unknown");
    if (c.input(0)->dims && c.input(0)->dims->size() != 2)
        return inferIssue(c.node, "the input needs rank 2");
    const DType fallback = c.input(0)->dtype == DType::Undefined ? DType::Float32 : c.input(0)->dtype;
    return Facts { fact(type ? static_cast<DType>(type) : fallback, c.input(0)->dims) };
}

Result<Facts> inferNonZero(const InferContext& c)
{
    QS_CHECK(needInputs(c, 1));
    Dims dims(2);
    if (c.input(0)->dims)
        dims[0] = knownDim(static_cast<int64_t>(c.input(0)->dims->size()));
    return Facts { fact(DType::Int64, dims) };
}

Result<Facts> inferExpand(const InferContext& c)
{
    QS_CHECK(needInputs(c, 2));
    const Fact& data = *c.input(0);
    const auto target = dimsFrom(*c.input(1));
    if (!data.dims || !target)
        return Facts { fact(data.dtype) };
    const Fact other = fact(data.dtype, target);
    const Fact* both[] = { &data, &other };
    QS_TRY(auto dims, broadcastDims(c.node, both));
    return Facts { fact(data.dtype, std::move(dims)) };
}

/// Tile of opset 1 took a count and an axis instead of a list of repeats.
Result<Facts> inferTile(const InferContext& c)
{
    QS_CHECK(needInputs(c, 2));
    const Fact& data = *c.input(0);
    if (!data.dims)
        return Facts { fact(data.dtype) };
    Dims out(data.dims->size());
    const auto repeats = partlyKnownInts(c.input(1));
    if (!repeats || c.input(2))
        return Facts { fact(data.dtype, out) };
    if (repeats->size() != out.size())
        return inferIssue(c.node,
            "it has " + std::to_string(repeats->size()) + " repeats for an input of rank "
                + std::to_string(out.size()));
    for (size_t i = 0; i < out.size(); ++i) {
        const KnownInt& repeat = (*repeats)[i];
        const Dim& size = (*data.dims)[i];
        if (repeat.number && *repeat.number < 0)
            return inferIssue(c.node, "a repeat is negative");
        if (repeat.number == 1)
            out[i] = size;
        else if (size.value == 1)
            out[i] = toDim(repeat);
        else if (repeat.number)
            out[i] = productOf(size, *repeat.number);
    }
    return Facts { fact(data.dtype, out) };
}

Result<Facts> inferOneHot(const InferContext& c)
{
    QS_CHECK(needInputs(c, 3));
    const auto& dims = c.input(0)->dims;
    if (!dims)
        return Facts { fact(c.input(2)->dtype) };
    QS_TRY(const size_t axis, axisArgument(c.node, c.node.attributes.integer("axis", -1), dims->size() + 1));
    const auto depth = knownNumber(c.input(1));
    Dims out = *dims;
    out.insert(out.begin() + static_cast<std::ptrdiff_t>(axis),
        depth && *depth >= 0 && *depth < 9e15 ? knownDim(static_cast<int64_t>(*depth)) : unknownDim());
    return Facts { fact(c.input(2)->dtype, out) };
}

Result<Facts> inferTrilu(const InferContext& c)
{
    QS_CHECK(needInputs(c, 1));
    if (c.input(0)->dims && c.input(0)->dims->size() < 2)
        return inferIssue(c.node, "the input needs rank 2 or more");
    return Facts { fact(c.input(0)->dtype, c.input(0)->dims) };
}

} // namespace

void registerShapeOps(OpRegistry& r)
{
    const auto add = [&](std::string_view type, InferFn infer) { r.add({ "", type, infer, Tolerance::Exact }); };
    add("Constant", inferConstant);
    add("ConstantOfShape", inferConstantOfShape);
    add("Shape", inferShape);
    add("Size", inferSize);
    add("Reshape", inferReshape);
    add("Flatten", inferFlatten);
    add("Squeeze", inferSqueeze);
    add("Unsqueeze", inferUnsqueeze);
    add("Identity", inferIdentity);
    add("BitCast", inferBitCast);
    add("Dropout", inferDropout);
    r.add({ "", "Range", inferRange, Tolerance::OneUlp });
    add("EyeLike", inferEyeLike);
    add("NonZero", inferNonZero);
    add("Expand", inferExpand);
    add("Tile", inferTile);
    add("OneHot", inferOneHot);
    add("Trilu", inferTrilu);
    r.add({ kMicrosoftDomain, "Trilu", inferTrilu, Tolerance::Exact });
}

} // namespace qs
