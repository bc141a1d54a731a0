// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/microsoft/attention.h"
#include "core/graph/domains.h"

#include "core/engine/lower/common/movement.h"
#include "core/engine/registry/registry.h"

#include "core/tensor/convert.h"

#include <algorithm>
#include <limits>

/// RotaryEmbedding and GroupQueryAttention of com.microsoft by way of ONNX's operators. Source: ONNX Runtime's operator
/// documentation.
namespace qs {

namespace {

struct RotarySettings {
    int64_t heads = 0; ///< 0: as many as the caches' size says
    int64_t rotated = 0; ///< 0: whole heads
    bool interleaved = false;
};

/// Turns x (batch x tokens x row, or batch x heads x tokens x size) by the caches' rows `positions` (batch x tokens).
Result<Tensor> rotate(const StepContext& s, const RotarySettings& settings, const Tensor& x, const Tensor& cosines,
    const Tensor& sines, const Tensor& positions, KernelMode mode)
{
    if (cosines.rank() != 2)
        return badInput("the cache must be a matrix, not " + shapeText(cosines.shape()));
    int64_t heads = settings.heads;
    if (x.rank() == 3 && heads == 0) {
        const int64_t size = 2 * cosines.dim(1);
        heads = size > 0 ? x.dim(2) / size : 0;
    }
    Node node = innerNode("RotaryEmbedding", {}, 23);
    node.attributes.set("interleaved", int64_t(settings.interleaved));
    node.attributes.set("rotary_embedding_dim", settings.rotated);
    node.attributes.set("num_heads", heads);
    QS_TRY(const InnerOp op,
        InnerOp::make(std::move(node),
            { { x.dtype(), {}, true }, { cosines.dtype(), {}, true }, { sines.dtype(), {}, true },
                { DType::Int64, {}, true } },
            mode));
    return op.run(s, { &x, &cosines, &sines, &positions });
}

/// Positions of all tokens: first[b], first[b] + 1 ...
Tensor positionsFrom(const StepContext& s, const std::vector<int64_t>& first, int64_t tokens)
{
    Tensor t = s.allocate(DType::Int64, { static_cast<int64_t>(first.size()), tokens });
    int64_t* to = t.fill<int64_t>().data();
    for (int64_t start : first)
        for (int64_t k = 0; k < tokens; ++k)
            *to++ = start + k;
    return t;
}

/// x, positions (all, or one offset), cosines, sines.
Status runRotary(const RotarySettings& settings, KernelMode mode, StepContext& s)
{
    QS_CHECK(needInputs(s, 4));
    const Tensor &x = s.in(0), &given = s.in(1);
    QS_CHECK(needFloat(x.dtype()));
    if (x.rank() != 3 && x.rank() != 4)
        return badInput("the input must have rank 3 or 4, not " + shapeText(x.shape()));
    const int64_t batch = x.dim(0), tokens = x.dim(x.rank() - 2);
    if (!isInteger(given.dtype()) || (given.count() != 1 && given.count() != batch * tokens))
        return badInput("positions of shape " + shapeText(given.shape()) + " do not fit the input");
    const Tensor positions = given.count() == batch * tokens && given.rank() == 2
        ? given
        : positionsFrom(s, std::vector<int64_t>(static_cast<size_t>(batch), elementAsInt(given, 0)), tokens);
    QS_TRY(Tensor y, rotate(s, settings, x, s.in(2), s.in(3), positions, mode));
    s.setOutput(0, std::move(y));
    return {};
}

RotarySettings rotarySettings(const Node& node)
{
    const Attributes& a = node.attributes;
    return { a.integer("num_heads", 0), a.integer("rotary_embedding_dim", 0), a.integer("interleaved", 0) != 0 };
}

Result<LoweredNode> lowerRotary(const LowerContext& c)
{
    QS_CHECK(needFloat(c.inputType(0)));
    if (c.node.attributes.integer("is_packed_batching", 0))
        return badInput("packed batches are not supported");
    return LoweredNode { [settings = rotarySettings(c.node), mode = c.mode](
                             StepContext& s) { return runRotary(settings, mode, s); },
        c.mode == KernelMode::Reference ? "reference" : "rotary" };
}

/// GroupQueryAttention.
struct GroupStep {
    AttentionHead head; ///< heads of the queries
    int64_t keyHeads = 1;
    int64_t window = -1; ///< tokens before a query that it sees; -1: all
    bool causal = true;
    bool rotates = false;
    RotarySettings rotary;
    KernelMode mode = KernelMode::Fast;
};

/// What the inputs say of lengths: `tokens` new ones behind `past[b]` cached ones.
struct GroupLengths {
    int64_t batch = 0, tokens = 0, present = 0;
    std::vector<int64_t> past;
};

Result<GroupLengths> groupLengths(const StepContext& s)
{
    GroupLengths l { s.in(0).dim(0), s.in(0).dim(1), 0, {} };
    const Tensor &last = s.in(5), &total = s.in(6);
    if (last.count() != l.batch || total.count() != 1 || !isInteger(last.dtype()) || !isInteger(total.dtype()))
        return badInput("seqlens_k or total_sequence_length does not fit");
    const Tensor* past = s.input(3);
    const int64_t cached = past ? past->dim(2) : 0;
    l.present = std::max(elementAsInt(total, 0), cached);
    if (l.present < l.tokens || l.present > l.tokens + cached)
        return badInput("total_sequence_length " + std::to_string(l.present) + " does not fit "
            + std::to_string(l.tokens) + " tokens behind a cache of " + std::to_string(cached));
    for (int64_t b = 0; b < l.batch; ++b) {
        // A first prompt may be padded at its end: it has no past.
        const int64_t behind = std::max<int64_t>(elementAsInt(last, b) + 1 - l.tokens, 0);
        if (behind > cached || behind + l.tokens > l.present)
            return badInput("seqlens_k " + std::to_string(elementAsInt(last, b)) + " does not fit the cache");
        l.past.push_back(behind);
    }
    return l;
}

/// What is in use of the cache, and the new rows behind it; the rest is 0.
template <class W>
Tensor extended(const StepContext& s, const GroupLengths& l, const Tensor* cache, const Tensor& fresh)
{
    const int64_t heads = fresh.dim(1), size = fresh.dim(3), cached = cache ? cache->dim(2) : 0;
    Tensor y = s.allocate(fresh.dtype(), { l.batch, heads, l.present, size });
    std::ranges::fill(y.fill<W>(), W(0));
    for (int64_t b = 0; b < l.batch; ++b)
        for (int64_t h = 0; h < heads; ++h) {
            W* to = y.fill<W>().data() + (b * heads + h) * l.present * size;
            const int64_t used = l.past[static_cast<size_t>(b)] * size;
            if (cache)
                std::copy_n(cache->data<W>().data() + (b * heads + h) * cached * size, used, to);
            std::copy_n(fresh.data<W>().data() + (b * heads + h) * l.tokens * size, l.tokens * size, to + used);
        }
    return y;
}

Result<Tensor> withCache(const StepContext& s, const GroupLengths& l, const Tensor* cache, const Tensor& fresh)
{
    if (!cache || (cache->rank() == 4 && cache->dim(2) == 0)) // without positions: as not given, whatever its width
        return fresh.dtype() == DType::Float64 ? extended<double>(s, l, nullptr, fresh)
                                               : extended<float>(s, l, nullptr, fresh);
    if (cache->rank() != 4 || cache->dim(0) != l.batch || cache->dim(1) != fresh.dim(1)
        || cache->dim(3) != fresh.dim(3))
        return badInput("a cache of shape " + shapeText(cache->shape()) + " does not fit " + shapeText(fresh.shape()));
    const Tensor wide = asWorkType(s, *cache, fresh.dtype());
    return fresh.dtype() == DType::Float64 ? extended<double>(s, l, &wide, fresh) : extended<float>(s, l, &wide, fresh);
}

/// A query sees itself and what is before it, as far as the window goes; not causal, all tokens there are.
Tensor orderMask(const StepContext& s, const GroupLengths& l, const GroupStep& step, DType work)
{
    Tensor mask = s.allocate(DType::Float64, { l.batch, 1, l.tokens, l.present });
    double* to = mask.fill<double>().data();
    for (int64_t past : l.past)
        for (int64_t q = 0; q < l.tokens; ++q)
            for (int64_t k = 0; k < l.present; ++k) {
                const int64_t distance = step.causal ? past + q - k : past + l.tokens - 1 - k;
                const bool seen = distance >= 0 && (step.window < 0 || distance < step.window);
                *to++ = seen ? 0 : -std::numeric_limits<double>::infinity();
            }
    return asStored(s, std::move(mask), work);
}

/// Queries, keys and values with heads, from three inputs or from one that holds them behind each other.
Result<AttentionTensors> groupInputs(const GroupStep& step, const StepContext& s, DType work)
{
    AttentionTensors t;
    const int64_t n = step.head.heads, kn = step.keyHeads;
    const Tensor rows = asWorkType(s, s.in(0), work);
    if (!s.input(1) || !s.input(2)) {
        const int64_t size = rows.dim(2) / (n + 2 * kn);
        if (rows.dim(2) != size * (n + 2 * kn))
            return badInput("a packed input of shape " + shapeText(rows.shape()) + " does not hold the heads");
        t.q = headsOf(s, rows, 0, n, size);
        t.k = headsOf(s, rows, n * size, kn, size);
        t.v = headsOf(s, rows, (n + kn) * size, kn, size);
        return t;
    }
    const Tensor keys = asWorkType(s, s.in(1), work), values = asWorkType(s, s.in(2), work);
    const int64_t size = rows.dim(2) / n;
    const Shape wanted { rows.dim(0), rows.dim(1), kn * size };
    if (rows.dim(2) != n * size || keys.shape() != wanted || values.shape() != wanted)
        return badInput("queries " + shapeText(rows.shape()) + ", keys " + shapeText(keys.shape()) + " and values "
            + shapeText(values.shape()) + " do not fit " + std::to_string(n) + " and " + std::to_string(kn) + " heads");
    t.q = headsOf(s, rows, 0, n, size);
    t.k = headsOf(s, keys, 0, kn, size);
    t.v = headsOf(s, values, 0, kn, size);
    return t;
}

Status runGroupQuery(const GroupStep& step, StepContext& s)
{
    QS_CHECK(needInputs(s, 1));
    for (size_t slot : { 5, 6 })
        s.in(slot); // required
    const DType type = s.in(0).dtype(), work = attentionWork(type, step.mode);
    QS_CHECK(needFloat(type));
    if (s.in(0).rank() != 3 || (s.input(3) != nullptr) != (s.input(4) != nullptr)
        || (s.input(3) && s.in(3).rank() != 4))
        return badInput("the queries must be batch x tokens x size, and the caches of keys and values given together");
    QS_TRY(const GroupLengths l, groupLengths(s));
    QS_TRY(AttentionTensors t, groupInputs(step, s, work));
    if (step.rotates) {
        if (!s.input(7) || !s.input(8))
            return badInput("the caches of cosines and sines are missing");
        const Tensor cosines = asWorkType(s, s.in(7), work), sines = asWorkType(s, s.in(8), work);
        const Tensor positions = s.input(9) ? s.in(9) : positionsFrom(s, l.past, l.tokens);
        RotarySettings rotary = step.rotary;
        rotary.rotated = cosines.rank() == 2 ? 2 * cosines.dim(1) : 0;
        QS_TRY(t.q, rotate(s, rotary, t.q, cosines, sines, positions, step.mode));
        QS_TRY(t.k, rotate(s, rotary, t.k, cosines, sines, positions, step.mode));
    }
    QS_TRY(t.k, withCache(s, l, s.input(3), t.k));
    QS_TRY(t.v, withCache(s, l, s.input(4), t.v));
    t.mask = orderMask(s, l, step, work);
    QS_TRY(const InnerOp op, attentionOp(step.head, t, step.mode, 1));
    QS_TRY(Tensor y, op.run(s, { &t.q, &t.k, &t.v, &t.mask, nullptr, nullptr }));
    s.setOutput(0, asStored(s, joinedHeads(s, y), type));
    if (s.outputCount() > 1)
        s.setOutput(1, asStored(s, std::move(t.k), type));
    if (s.outputCount() > 2)
        s.setOutput(2, asStored(s, std::move(t.v), type));
    return {};
}

Result<LoweredNode> lowerGroupQuery(const LowerContext& c)
{
    QS_CHECK(needFloat(c.inputType(0)));
    const Attributes& a = c.node.attributes;
    for (const char* name : { "smooth_softmax", "kv_cache_bit_width", "qk_output", "sliding_window_cache" })
        if (a.integer(name, 0) > 0)
            return badInput(std::string("the attribute ") + name + " is not supported");
    for (size_t slot = 10; slot < c.node.inputs.size(); ++slot)
        if (c.node.hasInput(slot))
            return badInput("input " + std::to_string(slot) + " is not supported");
    GroupStep step { attentionHead(c.node), a.integer("kv_num_heads", 0), a.integer("local_window_size", -1),
        a.integer("causal", 1) != 0, a.integer("do_rotary", 0) != 0, { 0, 0, a.integer("rotary_interleaved", 0) != 0 },
        c.mode };
    if (step.head.heads < 1 || step.keyHeads < 1 || step.head.heads % step.keyHeads)
        return badInput("num_heads " + std::to_string(step.head.heads) + " is no multiple of kv_num_heads "
            + std::to_string(step.keyHeads));
    return LoweredNode { [step](StepContext& s) { return runGroupQuery(step, s); },
        c.mode == KernelMode::Reference ? "reference" : "onednn attention" };
}

} // namespace

void lowerGroupQueryAttention(LoweringRegistry& r)
{
    r.add(kMicrosoftDomain, "GroupQueryAttention", lowerGroupQuery);
    r.add(kMicrosoftDomain, "RotaryEmbedding", lowerRotary);
}

} // namespace qs
