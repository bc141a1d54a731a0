// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/ops/fact_tools.h"

/// Operators whose results are random.
namespace qs {

namespace {

using Facts = std::vector<Fact>;

Result<DType> askedType(const InferContext& c, DType fallback)
{
    const int64_t type = c.node.attributes.integer("dtype", 0);
    if (type < 0 || type > int64_t(DType::Int2))
        return inferIssue(c.node, "the type number " + std::to_string(type) + " is unknown");
    return type ? static_cast<DType>(type) : fallback;
}

Result<Facts> inferFromShape(const InferContext& c)
{
    QS_TRY(const DType type, askedType(c, DType::Float32));
    const auto shape = c.node.attributes.integers("shape");
    if (!elementCount(shape))
        return inferIssue(c.node, "the shape " + shapeText(shape) + " is impossible");
    return Facts { fact(type, toDims(shape)) };
}

Result<Facts> inferLike(const InferContext& c)
{
    QS_CHECK(needInputs(c, 1));
    QS_TRY(const DType type, askedType(c, c.input(0)->dtype));
    return Facts { fact(type, c.input(0)->dims) };
}

Result<Facts> inferMultinomial(const InferContext& c)
{
    QS_CHECK(needInputs(c, 1));
    QS_TRY(const DType type, askedType(c, DType::Int32));
    const int64_t count = c.node.attributes.integer("sample_size", 1);
    const auto& dims = c.input(0)->dims;
    if (count < 0 || (dims && dims->size() != 2))
        return inferIssue(c.node, "it needs an input of rank 2 and a sample size");
    return Facts { fact(type, Dims { dims ? (*dims)[0] : unknownDim(), knownDim(count) }) };
}

} // namespace

void registerRandomOps(OpRegistry& r)
{
    for (const char* type : { "RandomNormal", "RandomUniform" })
        r.add({ "", type, inferFromShape, Tolerance::Elementary });
    for (const char* type : { "RandomNormalLike", "RandomUniformLike", "Bernoulli" })
        r.add({ "", type, inferLike, Tolerance::Elementary });
    r.add({ "", "Multinomial", inferMultinomial, Tolerance::Exact });
}

} // namespace qs
