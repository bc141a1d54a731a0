// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/domains.h"
#include "core/ops/fact_tools.h"

/// What language models do with a sequence of tokens.
namespace qs {

namespace {

using Facts = std::vector<Fact>;

Dim over(const Dim& a, int64_t parts) { return a.known() && parts > 0 ? knownDim(a.value / parts) : unknownDim(); }

/// Batch, heads, tokens, size of Q, K or V, whichever of the two forms they come in.
std::optional<Dims> headDims(const InferContext& c, size_t slot, int64_t heads)
{
    const auto& dims = c.input(slot)->dims;
    if (!dims || dims->size() == 4)
        return dims;
    const Dim count = heads > 0 ? knownDim(heads) : unknownDim();
    return Dims { (*dims)[0], count, (*dims)[1], over((*dims)[2], heads) };
}

Result<Facts> inferAttention(const InferContext& c)
{
    QS_CHECK(needInputs(c, 3));
    for (size_t i = 0; i < 3; ++i)
        if (const auto& dims = c.input(i)->dims; dims && dims->size() != 3 && dims->size() != 4)
            return inferIssue(c.node, "its inputs need rank 3 or 4");
    const Attributes& a = c.node.attributes;
    const int64_t heads = a.integer("q_num_heads", 0), keyHeads = a.integer("kv_num_heads", 0);
    const DType type = c.input(0)->dtype, valueType = c.input(2)->dtype;
    Facts out { fact(type), fact(c.input(1)->dtype), fact(valueType), fact(type) };
    const auto q = headDims(c, 0, heads), k = headDims(c, 1, keyHeads), v = headDims(c, 2, keyHeads);
    if (!q || !k || !v)
        return out;
    Dim keys = (*k)[2];
    if (const Fact* past = c.input(4))
        keys = past->dims && past->dims->size() == 4 ? sumOf((*past->dims)[2], keys) : unknownDim();
    out[0].dims = Dims { (*q)[0], (*q)[1], (*q)[2], (*v)[3] };
    if (c.input(0)->dims->size() == 3)
        out[0].dims = Dims { (*q)[0], (*q)[2], unknownDim() };
    if (c.input(0)->dims->size() == 3 && (*v)[3].known() && heads > 0)
        out[0].dims->back() = productOf((*v)[3], heads);
    out[1].dims = Dims { (*k)[0], (*k)[1], keys, (*k)[3] };
    out[2].dims = Dims { (*v)[0], (*v)[1], keys, (*v)[3] };
    out[3].dims = Dims { (*q)[0], (*q)[1], (*q)[2], keys };
    return out;
}

Result<Facts> inferFlexAttention(const InferContext& c)
{
    QS_CHECK(needInputs(c, 3));
    for (size_t i = 0; i < 3; ++i)
        if (const auto& dims = c.input(i)->dims; dims && dims->size() != 4)
            return inferIssue(c.node, "its inputs need rank 4");
    const Fact& q = *c.input(0);
    Dims out { dimOf(&q, 0), dimOf(&q, 1), dimOf(&q, 2), dimOf(c.input(2), 3) };
    return Facts { fact(q.dtype, std::move(out)) };
}

/// Scores of every query and key, then as many weighted values.
std::optional<int64_t> flexAttentionMacs(const InferContext& c, std::span<const Fact> outputs)
{
    if (!c.input(1) || outputs.empty())
        return std::nullopt;
    const Fact &k = *c.input(1), &y = outputs[0];
    const auto scores = dimProduct(std::vector<Dim> { dimOf(&y, 0), dimOf(&y, 1), dimOf(&y, 2), dimOf(&k, 2) });
    const Dim size = sumOf(dimOf(&k, 3), dimOf(&y, 3));
    int64_t macs = 0;
    if (!scores || !size.known() || __builtin_mul_overflow(*scores, size.value, &macs))
        return std::nullopt;
    return macs;
}

Result<Facts> inferLikeData(const InferContext& c)
{
    QS_CHECK(needInputs(c, 2));
    return Facts { fact(c.input(0)->dtype, c.input(0)->dims) };
}

Result<Facts> inferLinearAttention(const InferContext& c)
{
    QS_CHECK(needInputs(c, 3));
    const Attributes& a = c.node.attributes;
    const int64_t queries = a.integer("q_num_heads", 0), values = a.integer("kv_num_heads", 0);
    if (queries <= 0 || values <= 0 || (queries % values != 0 && values % queries != 0))
        return inferIssue(c.node, "of q_num_heads and kv_num_heads one must be a multiple of the other");
    const Fact &q = *c.input(0), &v = *c.input(2);
    const Fact* past = c.input(3);
    Facts out { fact(q.dtype), fact(past ? past->dtype : q.dtype) };
    if (!q.dims || !v.dims)
        return out;
    if (q.dims->size() != 3 || v.dims->size() != 3)
        return inferIssue(c.node, "its inputs need rank 3");
    const Dim valueSize = over((*v.dims)[2], values);
    out[0].dims = Dims { (*q.dims)[0], (*q.dims)[1], productOf(valueSize, std::max(queries, values)) };
    out[1].dims = Dims { (*q.dims)[0], knownDim(values), over((*q.dims)[2], queries), valueSize };
    return out;
}

Result<Facts> inferCausalConv(const InferContext& c)
{
    QS_CHECK(needInputs(c, 2));
    const Fact &x = *c.input(0), &w = *c.input(1);
    Facts out { fact(x.dtype, x.dims), fact(x.dtype) };
    if (c.node.outputs.size() > 2)
        out.push_back(fact(x.dtype));
    if (!x.dims || !w.dims)
        return out;
    const bool last = c.node.attributes.integer("channels_last", 0) != 0;
    const int64_t dilation = c.node.attributes.integer("dilation", 1);
    if ((last ? x.dims->size() < 3 : x.dims->size() != 3) || w.dims->size() != 3)
        return inferIssue(c.node, "the input and the weight need rank 3");
    out[1].dims = x.dims;
    Dim& past = (*out[1].dims)[last ? 1 : 2];
    const Dim taps = (*w.dims)[2];
    int64_t length = 0;
    const bool known
        = taps.known() && taps.value > 0 && dilation > 0 && !__builtin_mul_overflow(taps.value - 1, dilation, &length);
    past = known ? knownDim(length) : unknownDim();
    return out;
}

} // namespace

void registerAttentionOps(OpRegistry& r)
{
    r.add({ "", "Attention", inferAttention, Tolerance::Accumulation });
    r.add({ kPreviewDomain, "FlexAttention", inferFlexAttention, Tolerance::Accumulation, flexAttentionMacs });
    r.add({ "", "RotaryEmbedding", inferLikeData, Tolerance::Accumulation });
    r.add({ "", "TensorScatter", inferLikeData, Tolerance::Exact });
    r.add({ "", "LinearAttention", inferLinearAttention, Tolerance::Accumulation });
    r.add({ kMicrosoftDomain, "LinearAttention", inferLinearAttention, Tolerance::Accumulation });
    r.add({ "", "CausalConvWithState", inferCausalConv, Tolerance::Accumulation });
    r.add({ kMicrosoftDomain, "CausalConvWithState", inferCausalConv, Tolerance::Accumulation });
}

} // namespace qs
