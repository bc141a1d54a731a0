// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/domains.h"
#include "core/ops/fact_tools.h"

namespace qs {

namespace {

/// Output 0 like input 0; the attribute `axis` must exist.
Result<std::vector<Fact>> inferAlongAxis(const InferContext& c)
{
    QS_CHECK(needInputs(c, 1));
    const Fact& x = *c.input(0);
    if (const auto* axis = c.node.attributes.get<int64_t>("axis"); axis && x.dims) {
        // The flattening operators of old allow axis = rank.
        const bool flattensAll = c.node.opset < 13 && *axis == static_cast<int64_t>(x.dims->size());
        if (!flattensAll)
            QS_CHECK(axisArgument(c.node, *axis, x.dims->size()));
    }
    return std::vector<Fact> { fact(x.dtype, x.dims) };
}

Result<std::vector<Fact>> inferChannelwise(const InferContext& c)
{
    QS_CHECK(needInputs(c, 1));
    const Fact& x = *c.input(0);
    if (x.dims && x.dims->size() < 2)
        return inferIssue(c.node, c.node.opType + " needs an input with a channel axis");
    return std::vector<Fact> { fact(x.dtype, x.dims) };
}

Result<std::vector<Fact>> inferBatchNorm(const InferContext& c)
{
    QS_CHECK(needInputs(c, 5));
    const Fact& x = *c.input(0);
    const Fact* scale = c.input(1);
    if (x.dims && x.dims->size() >= 2 && scale->dims && scale->dims->size() == 1 && (*x.dims)[1].known()
        && (*scale->dims)[0].known() && (*x.dims)[1].value != (*scale->dims)[0].value)
        return inferIssue(c.node,
            std::to_string((*scale->dims)[0].value) + " scales do not fit " + std::to_string((*x.dims)[1].value)
                + " channels");
    std::vector<Fact> out { fact(x.dtype, x.dims) };
    for (size_t i = 1; i < c.node.outputs.size(); ++i)
        out.push_back(fact(c.input(i < 3 ? i + 2 : 3)->dtype, scale->dims));
    return out;
}

/// Y like X, then mean and inverse deviation with the normalized axes at 1.
Result<std::vector<Fact>> inferLayerNorm(const InferContext& c)
{
    QS_CHECK(needInputs(c, 2));
    const Fact& x = *c.input(0);
    std::vector<Fact> out { fact(x.dtype, x.dims) };
    const auto stash = static_cast<DType>(c.node.attributes.integer("stash_type", 1));
    std::optional<Dims> dims = x.dims;
    if (dims) {
        QS_TRY(const size_t axis, axisArgument(c.node, c.node.attributes.integer("axis", -1), dims->size()));
        for (size_t i = axis; i < dims->size(); ++i)
            (*dims)[i] = knownDim(1);
    }
    for (size_t i = 1; i < c.node.outputs.size(); ++i)
        out.push_back(fact(stash, dims));
    return out;
}

/// Y like X, statistics over the last axis, and the sum of the inputs.
Result<std::vector<Fact>> inferSkipLayerNorm(const InferContext& c)
{
    QS_CHECK(needInputs(c, 3));
    const Fact& x = *c.input(0);
    std::vector<Fact> out { fact(x.dtype, x.dims) };
    std::optional<Dims> dims = x.dims;
    if (dims && !dims->empty())
        dims->back() = knownDim(1);
    if (c.node.outputs.size() > 1)
        out.push_back(fact(DType::Float32, dims));
    if (c.node.outputs.size() > 2)
        out.push_back(fact(DType::Float32, dims));
    if (c.node.outputs.size() > 3)
        out.push_back(fact(x.dtype, x.dims));
    return out;
}

} // namespace

void registerNormOps(OpRegistry& r)
{
    r.add({ "", "BatchNormalization", inferBatchNorm, Tolerance::Accumulation });
    r.add({ "", "InstanceNormalization", inferChannelwise, Tolerance::Accumulation });
    r.add({ "", "GroupNormalization", inferChannelwise, Tolerance::Accumulation });
    r.add({ "", "LayerNormalization", inferLayerNorm, Tolerance::Accumulation });
    r.add({ "", "RMSNormalization", inferAlongAxis, Tolerance::Accumulation });
    r.add({ "", "LRN", inferChannelwise, Tolerance::Accumulation });
    r.add({ "", "LpNormalization", inferAlongAxis, Tolerance::Accumulation });
    r.add({ "", "MeanVarianceNormalization", inferAlongAxis, Tolerance::Accumulation });
    r.add({ "", "Softmax", inferAlongAxis, Tolerance::Accumulation });
    r.add({ "", "LogSoftmax", inferAlongAxis, Tolerance::Accumulation });
    r.add({ "", "Hardmax", inferAlongAxis, Tolerance::Exact });
    r.add({ "", "SimplifiedLayerNormalization", inferLayerNorm, Tolerance::Accumulation });
    r.add({ kMicrosoftDomain, "SkipLayerNormalization", inferSkipLayerNorm, Tolerance::Accumulation });
    r.add({ kMicrosoftDomain, "SkipSimplifiedLayerNormalization", inferSkipLayerNorm, Tolerance::Accumulation });
}

} // namespace qs
