// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/domains.h"
#include "core/graph/own_domain.h"
#include "core/ops/fact_tools.h"
#include "core/ops/families/parts.h"

#include <algorithm>

/// Embeddings and attention of com.microsoft.
namespace qs {

namespace {

using Facts = std::vector<Fact>;

Dim quotient(const Dim& a, int64_t by) { return a.known() && by > 0 ? knownDim(a.value / by) : unknownDim(); }

/// As many facts as the node has outputs.
Facts cut(const InferContext& c, Facts all)
{
    all.resize(std::min(all.size(), c.node.outputs.size()));
    return all;
}

/// Y, index of the mask, sum of the rows.
Result<Facts> inferEmbedding(const InferContext& c)
{
    QS_CHECK(needInputs(c, 1));
    const Fact& ids = c.inputs[0];
    if (ids.dims && ids.dims->size() != 2)
        return inferIssue(c.node, "the words must be batch x sequence, not " + dimsText(*ids.dims));
    const bool quantized = c.node.opType.starts_with("Q");
    const DType type = quantized || !c.input(2) ? DType::Float32 : c.input(2)->dtype;
    const Dims rows { dimOf(&ids, 0), dimOf(&ids, 1), dimOf(c.input(2), 1) };
    return cut(c, { fact(type, rows), fact(DType::Int32, Dims { rows[0] }), fact(type, rows) });
}

/// Attention and QAttention: input, weights, ...; the past in slot `pastSlot` (2 x batch x heads x tokens x size).
Result<Facts> inferProjected(const InferContext& c, DType type, size_t pastSlot)
{
    const Fact *x = c.input(0), *w = c.input(1), *past = c.input(pastSlot);
    const int64_t heads = c.node.attributes.integer("num_heads", 0);
    if (x->dims && x->dims->size() != 3)
        return inferIssue(c.node, "the input must be batch x tokens x size, not " + dimsText(*x->dims));
    const std::vector<int64_t> sizes = c.node.attributes.integers("qkv_hidden_sizes");
    const Dim values = sizes.size() == 3 ? knownDim(sizes[2]) : quotient(dimOf(w, 1), 3);
    const Dim tokens = dimOf(x, 1);
    const Dim total = past ? sumOf(dimOf(past, 3), tokens) : tokens;
    return cut(c,
        { fact(type, Dims { dimOf(x, 0), tokens, values }),
            fact(type, Dims { knownDim(2), dimOf(x, 0), knownDim(heads), total, quotient(values, heads) }) });
}

Result<Facts> inferMicrosoftAttention(const InferContext& c)
{
    QS_CHECK(needInputs(c, 2));
    return inferProjected(c, c.inputs[0].dtype, 4);
}

Result<Facts> inferQAttention(const InferContext& c)
{
    QS_CHECK(needInputs(c, 5));
    return inferProjected(c, c.inputs[2].dtype, 8);
}

/// Queries batch x tokens x row; keys and values likewise, cached (heads second), or packed with them.
Result<Facts> inferMultiHead(const InferContext& c)
{
    QS_CHECK(needInputs(c, 1));
    const Fact *q = c.input(0), *k = c.input(1), *v = c.input(2), *past = c.input(6);
    const int64_t heads = c.node.attributes.integer("num_heads", 0);
    const auto rank = [](const Fact* f) { return f && f->dims ? f->dims->size() : 0; };
    Dim row = unknownDim(), keys = unknownDim();
    if (rank(q) == 5 || rank(k) == 5) {
        const Fact* packed = rank(q) == 5 ? q : k;
        const Dim size = dimOf(packed, 4);
        row = productOf(size, heads);
        keys = dimOf(packed, 1);
    } else if (rank(v) == 3) {
        row = dimOf(v, 2);
        keys = dimOf(k, 1);
    } else if (rank(v) == 4) {
        const Dim size = dimOf(v, 3);
        row = productOf(size, heads);
        keys = dimOf(k, 2);
    }
    const bool shared = past && c.input(8); // the present lies in the past's buffer
    const Dim total = shared ? unknownDim() : past ? sumOf(dimOf(past, 2), keys) : keys;
    const Dim present = shared ? dimOf(past, 2) : total;
    const Dim keySize = rank(q) == 5 ? dimOf(q, 4) : quotient(dimOf(q, 2), heads);
    const Dim batch = dimOf(q, 0), tokens = dimOf(q, 1), n = knownDim(heads);
    return cut(c,
        { fact(q->dtype, Dims { batch, tokens, row }), fact(q->dtype, Dims { batch, n, present, keySize }),
            fact(q->dtype, Dims { batch, n, present, quotient(row, heads) }),
            fact(q->dtype, Dims { batch, n, tokens, total }) });
}

/// MultiHeadAttention with its inputs in another order (core/engine/lower/microsoft/decoder_attention.cpp).
Result<Facts> inferDecoderMasked(const InferContext& c)
{
    QS_CHECK(needInputs(c, 1));
    Node node = c.node;
    node.inputs.clear();
    Facts facts;
    for (const size_t slot : { 0, 1, 2, 10, 3, 4, 5, 6, 7, 9 }) {
        node.inputs.push_back(c.node.hasInput(slot) ? c.node.inputs[slot] : ValueId());
        facts.push_back(c.input(slot) ? *c.input(slot) : Fact {});
    }
    return inferMultiHead({ node, facts });
}

/// Caches as they come in; where there are none so far, as the attributes say.
Fact groupCache(const InferContext& c, size_t slot, const Dims& dims)
{
    const Attributes& a = c.node.attributes;
    const int64_t bits = a.text("k_quant_type", "NONE") == "NONE" ? 0 : a.integer("kv_cache_bit_width", 0);
    Fact present = fact(bits == 8 ? DType::Int8 : bits == 4 ? DType::UInt8 : c.inputs[0].dtype, dims);
    Dim& width = (*present.dims)[3];
    if (bits == 4 && width.known())
        width = knownDim(width.value / 2 + width.value % 2);
    if (a.integer("sliding_window_cache", 0))
        (*present.dims)[2] = dimOf(c.input(slot), 2);
    return present;
}

Result<Facts> inferGroupQuery(const InferContext& c)
{
    QS_CHECK(needInputs(c, 1));
    const Fact *q = c.input(0), *k = c.input(1);
    const auto number
        = [&](const char* name) { return std::clamp<int64_t>(c.node.attributes.integer(name, 0), 0, INT32_MAX); };
    const int64_t heads = number("num_heads"), keys = number("kv_num_heads");
    const Dim size = k ? quotient(dimOf(q, 2), heads) : quotient(dimOf(q, 2), heads + 2 * keys);
    const Dim row = productOf(size, heads);
    const Dims dims { dimOf(q, 0), knownDim(keys), unknownDim(), size };
    return cut(c,
        { fact(q->dtype, Dims { dimOf(q, 0), dimOf(q, 1), row }), groupCache(c, 3, dims), groupCache(c, 4, dims),
            fact(q->dtype, Dims { dimOf(q, 0), knownDim(heads), dimOf(q, 1), unknownDim() }) });
}

/// The presents lie in the pasts' buffers.
Result<Facts> inferSparse(const InferContext& c)
{
    QS_TRY(Facts facts, inferGroupQuery(c));
    for (size_t i : { 1, 2 })
        if (i < facts.size() && c.input(2 + i))
            facts[i] = c.inputs[2 + i];
    return facts;
}

/// Both outputs like the input.
Result<Facts> inferGate(const InferContext& c)
{
    QS_CHECK(needInputs(c, 3));
    return cut(c, { c.inputs[0], c.inputs[0] });
}

Result<Facts> inferDequantizeCache(const InferContext& c)
{
    QS_CHECK(needInputs(c, 2));
    const Fact* codes = c.input(0);
    const Dim row = dimOf(codes, 3);
    const int64_t inByte = c.node.attributes.integer("bits", 8) == 4 ? 2 : 1;
    return cut(c,
        { fact(DType::Float32, Dims { dimOf(codes, 0), dimOf(codes, 1), dimOf(codes, 2), productOf(row, inByte) }) });
}

/// Of the projection alone: tokens x size of the input x row.
std::optional<int64_t> projectionMacs(const InferContext& c, std::span<const Fact>)
{
    return dimProduct(Dims { dimOf(c.input(0), 0), dimOf(c.input(0), 1), dimOf(c.input(1), 0), dimOf(c.input(1), 1) });
}

} // namespace

void registerMicrosoftAttentionOps(OpRegistry& r)
{
    r.add({ kMicrosoftDomain, "EmbedLayerNormalization", inferEmbedding, Tolerance::Accumulation });
    r.add({ kMicrosoftDomain, "QEmbedLayerNormalization", inferEmbedding, Tolerance::Accumulation });
    r.add({ kMicrosoftDomain, "Attention", inferMicrosoftAttention, Tolerance::Accumulation, projectionMacs });
    r.add({ kMicrosoftDomain, "QAttention", inferQAttention, Tolerance::Accumulation, projectionMacs });
    r.add({ kMicrosoftDomain, "MultiHeadAttention", inferMultiHead, Tolerance::Accumulation });
    r.add({ kMicrosoftDomain, "DecoderMaskedMultiHeadAttention", inferDecoderMasked, Tolerance::Accumulation });
    r.add({ kMicrosoftDomain, "GroupQueryAttention", inferGroupQuery, Tolerance::Accumulation });
    r.add({ kMicrosoftDomain, "RotaryEmbedding", inferSame, Tolerance::Elementary });
    r.add({ kMicrosoftDomain, "SparseAttention", inferSparse, Tolerance::Accumulation });
    r.add({ kMicrosoftDomain, "MRotaryEmbedding", inferSame, Tolerance::Elementary });
    r.add({ kMicrosoftDomain, "GatedRMSNorm", inferSame, Tolerance::Accumulation });
    r.add({ kMicrosoftDomain, "LinearAttentionGate", inferGate, Tolerance::Elementary });
    r.add({ kMicrosoftDomain, "GatedAdd", inferSame, Tolerance::Elementary });
    r.add({ kOwnDomain, kDequantizeCache, inferDequantizeCache, Tolerance::OneUlp });
}

} // namespace qs
