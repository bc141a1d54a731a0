// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/domains.h"
#include "core/ops/fact_tools.h"

#include <algorithm>

/// Operators on sequences, optionals and maps. An optional that has a value is that value.
namespace qs {

namespace {

using Facts = std::vector<Fact>;

/// Issue when input i is known and no sequence.
Status needSequence(const InferContext& c, size_t i)
{
    QS_CHECK(needInputs(c, i + 1));
    const DType type = c.input(i)->dtype;
    if (type == DType::Undefined || type == DType::Sequence)
        return {};
    return inferIssue(
        c.node, "input " + std::to_string(i) + " is " + std::string(dtypeName(type)) + " where it needs a sequence");
}

Result<Facts> inferConstruct(const InferContext& c)
{
    QS_CHECK(needInputs(c, std::max<size_t>(1, c.inputs.size())));
    Fact all = c.inputs[0];
    for (const Fact& f : c.inputs.subspan(1))
        all = commonFact(all, f);
    return Facts { sequenceFact(std::move(all)) };
}

Result<Facts> inferEmpty(const InferContext& c)
{
    const int64_t type = c.node.attributes.integer("dtype", int64_t(DType::Float32));
    if (type <= 0 || type > int64_t(DType::Int2))
        return inferIssue(c.node, "the type number " + std::to_string(type) + " is unknown");
    return Facts { sequenceFact(fact(static_cast<DType>(type))) };
}

Result<Facts> inferAt(const InferContext& c)
{
    QS_CHECK(needSequence(c, 0));
    QS_CHECK(needInputs(c, 2));
    return Facts { elementFact(c.input(0)) };
}

Result<Facts> inferInsert(const InferContext& c)
{
    QS_CHECK(needSequence(c, 0));
    QS_CHECK(needInputs(c, 2));
    return Facts { sequenceFact(commonFact(elementFact(c.input(0)), *c.input(1))) };
}

Result<Facts> inferErase(const InferContext& c)
{
    QS_CHECK(needSequence(c, 0));
    return Facts { sequenceFact(elementFact(c.input(0))) };
}

Result<Facts> inferLength(const InferContext& c)
{
    QS_CHECK(needSequence(c, 0));
    return Facts { fact(DType::Int64, Dims {}) };
}

/// Size of every part along the split axis, when all have the same.
Dim partSize(const InferContext& c, const Dim& whole)
{
    if (!c.input(1))
        return knownDim(1);
    const auto sizes = knownInts(c.input(1));
    if (!sizes || sizes->empty() || !std::ranges::all_of(*sizes, [&](int64_t s) { return s == sizes->front(); }))
        return unknownDim();
    const int64_t size = sizes->front();
    const bool scalar = c.input(1)->value->rank() == 0; // then the last part may be smaller
    if (size <= 0 || (scalar && (!whole.known() || whole.value % size != 0)))
        return unknownDim();
    return knownDim(size);
}

Result<Facts> inferSplitToSequence(const InferContext& c)
{
    QS_CHECK(needInputs(c, 1));
    const Fact& x = *c.input(0);
    Fact part = fact(x.dtype);
    if (x.dims) {
        QS_TRY(const size_t axis, axisArgument(c.node, c.node.attributes.integer("axis", 0), x.dims->size()));
        part.dims = x.dims;
        (*part.dims)[axis] = partSize(c, (*x.dims)[axis]);
        if (!c.input(1) && c.node.attributes.integer("keepdims", 1) == 0)
            part.dims->erase(part.dims->begin() + static_cast<std::ptrdiff_t>(axis));
    }
    return Facts { sequenceFact(std::move(part)) };
}

Result<Facts> inferConcatFromSequence(const InferContext& c)
{
    QS_CHECK(needSequence(c, 0));
    const bool newAxis = c.node.attributes.integer("new_axis", 0) != 0;
    Fact out = elementFact(c.input(0));
    if (out.dims) {
        const size_t rank = out.dims->size() + (newAxis ? 1 : 0);
        QS_TRY(const size_t axis, axisArgument(c.node, c.node.attributes.integer("axis", 0), rank));
        if (newAxis)
            out.dims->insert(out.dims->begin() + static_cast<std::ptrdiff_t>(axis), unknownDim());
        else
            (*out.dims)[axis] = unknownDim();
    }
    return Facts { std::move(out) };
}

Result<Facts> inferOptional(const InferContext& c)
{
    const Fact* given = c.input(0);
    return Facts { given ? *given : fact(DType::NoValue) };
}

Result<Facts> inferGetElement(const InferContext& c)
{
    QS_CHECK(needInputs(c, 1));
    return Facts { *c.input(0) };
}

Result<Facts> inferHasElement(const InferContext& c)
{
    Fact out = fact(DType::Bool, Dims {});
    const Fact* given = c.input(0);
    if (!given || given->dtype != DType::Undefined)
        out.value
            = Tensor::of<uint8_t>({}, { uint8_t(given && given->dtype != DType::NoValue) }).reinterpreted(DType::Bool);
    return Facts { std::move(out) };
}

Result<Facts> inferZipMap(const InferContext& c)
{
    QS_CHECK(needInputs(c, 1));
    return Facts { sequenceFact(fact(DType::Map)) };
}

Result<Facts> inferDictVectorizer(const InferContext& c)
{
    QS_CHECK(needInputs(c, 1));
    const auto* words = c.node.attributes.get<std::vector<std::string>>("string_vocabulary");
    const auto* numbers = c.node.attributes.get<std::vector<int64_t>>("int64_vocabulary");
    const size_t count = words && !words->empty() ? words->size() : numbers ? numbers->size() : 0;
    return Facts { fact(DType::Undefined, Dims { knownDim(1), knownDim(static_cast<int64_t>(count)) }) };
}

Result<Facts> inferCastMap(const InferContext& c)
{
    QS_CHECK(needInputs(c, 1));
    const std::string to = c.node.attributes.text("cast_to", "TO_FLOAT");
    const DType type = to == "TO_STRING" ? DType::String : to == "TO_INT64" ? DType::Int64 : DType::Float32;
    return Facts { fact(type, Dims { knownDim(1), unknownDim() }) };
}

} // namespace

void registerSequenceOps(OpRegistry& r)
{
    r.add({ "", "SequenceConstruct", inferConstruct, Tolerance::Exact });
    r.add({ "", "SequenceEmpty", inferEmpty, Tolerance::Exact });
    r.add({ "", "SequenceAt", inferAt, Tolerance::Exact });
    r.add({ "", "SequenceInsert", inferInsert, Tolerance::Exact });
    r.add({ "", "SequenceErase", inferErase, Tolerance::Exact });
    r.add({ "", "SequenceLength", inferLength, Tolerance::Exact });
    r.add({ "", "SplitToSequence", inferSplitToSequence, Tolerance::Exact });
    r.add({ "", "ConcatFromSequence", inferConcatFromSequence, Tolerance::Exact });
    r.add({ "", "Optional", inferOptional, Tolerance::Exact });
    r.add({ "", "OptionalGetElement", inferGetElement, Tolerance::Exact });
    r.add({ "", "OptionalHasElement", inferHasElement, Tolerance::Exact });
    r.add({ kMlDomain, "ZipMap", inferZipMap, Tolerance::Exact });
    r.add({ kMlDomain, "DictVectorizer", inferDictVectorizer, Tolerance::Exact });
    r.add({ kMlDomain, "CastMap", inferCastMap, Tolerance::Exact });
}

} // namespace qs
