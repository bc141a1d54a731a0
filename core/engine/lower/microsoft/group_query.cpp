// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/microsoft/group_cache.h"
#include "core/graph/domains.h"

#include "core/engine/lower/common/movement.h"
#include "core/engine/registry/registry.h"

#include "core/kernels/movement/strided_copy.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

/// GroupQueryAttention by way of ONNX's Attention. Source: ONNX Runtime's operator documentation and its CPU kernel.
namespace qs {

namespace {

struct GroupStep {
    AttentionHead head; ///< heads of the queries
    int64_t keyHeads = 1;
    int64_t window = -1; ///< tokens before a query that it sees; -1: all
    bool causal = true;
    bool rotates = false;
    bool smooth = false; ///< the softmax has one more score that stands for no key: 0, or what head_sink says
    RotarySettings rotary;
    CacheForm cache;
    KernelMode mode = KernelMode::Fast;
};

/// Inputs, in their order.
enum : size_t {
    kGroupQuery,
    kGroupKey,
    kGroupValue,
    kGroupPastKey,
    kGroupPastValue,
    kGroupLast,
    kGroupTotal,
    kGroupCosines,
    kGroupSines,
    kGroupPositions,
    kGroupBias,
    kGroupSink,
    kGroupKeyScale,
    kGroupValueScale,
    kGroupQueryNorm,
    kGroupKeyNorm
};

/// Queries, keys and values with heads, from three inputs or from one that holds them behind each other. There may be
/// no keys and values but those of the cache.
Result<AttentionTensors> groupInputs(const GroupStep& step, const StepContext& s, DType work)
{
    AttentionTensors t;
    const int64_t n = step.head.heads, kn = step.keyHeads;
    if (s.in(kGroupQuery).dim(2) == 0)
        return badInput("heads without elements");
    const Tensor rows = asWorkType(s, s.in(kGroupQuery), work);
    if (!s.input(kGroupKey) || !s.input(kGroupValue)) {
        const int64_t size = rows.dim(2) / (n + 2 * kn);
        if (rows.dim(2) != size * (n + 2 * kn))
            return badInput("a packed input of shape " + shapeText(rows.shape()) + " does not hold the heads");
        t.q = headsOf(s, rows, 0, n, size);
        t.k = headsOf(s, rows, n * size, kn, size);
        t.v = headsOf(s, rows, (n + kn) * size, kn, size);
        return t;
    }
    const Tensor keys = asWorkType(s, s.in(kGroupKey), work), values = asWorkType(s, s.in(kGroupValue), work);
    const int64_t size = rows.dim(2) / n;
    const Shape wanted { rows.dim(0), rows.dim(1), kn * size }, none { rows.dim(0), 0, kn * size };
    if (rows.dim(2) != n * size || keys.shape() != values.shape()
        || (keys.shape() != wanted && (keys.shape() != none || !s.input(kGroupPastKey))))
        return badInput("queries " + shapeText(rows.shape()) + ", keys " + shapeText(keys.shape()) + " and values "
            + shapeText(values.shape()) + " do not fit " + std::to_string(n) + " and " + std::to_string(kn) + " heads");
    t.q = headsOf(s, rows, 0, n, size);
    t.k = headsOf(s, keys, 0, kn, size);
    t.v = headsOf(s, values, 0, kn, size);
    return t;
}

/// Positions of the queries and new keys: as told (at the text's begin only where the first one is), or counted.
Tensor groupPositions(const StepContext& s, const GroupLengths& l)
{
    const Tensor* given = s.input(kGroupPositions);
    if (given && !l.prompt)
        return *given;
    if (l.padded) {
        std::vector<int64_t> each;
        for (const GroupLine& line : l.lines)
            for (int64_t q = 0; q < l.queries; ++q) // what padding's are is not said
                each.push_back(line.first + std::min(line.before + q, line.known - 1));
        return Tensor::of<int64_t>({ l.batch, l.queries }, each);
    }
    std::vector<int64_t> first;
    for (const GroupLine& line : l.lines)
        first.push_back(l.prompt ? (given ? elementAsInt(*given, 0) : 0) : line.first + line.known - l.queries);
    return positionsFrom(s, first, l.queries);
}

Status turn(const GroupStep& step, const StepContext& s, const GroupLengths& l, AttentionTensors& t)
{
    const DType type = s.in(kGroupQuery).dtype(), work = t.q.dtype();
    if (!s.input(kGroupCosines) || !s.input(kGroupSines))
        return badInput("the caches of cosines and sines are missing");
    const Tensor* given = s.input(kGroupPositions);
    if (given && (!isInteger(given->dtype()) || given->count() != l.batch * l.queries))
        return badInput("position_ids of shape " + shapeText(given->shape()) + " do not fit the queries");
    const Tensor cosines = asWorkType(s, s.in(kGroupCosines), work), sines = asWorkType(s, s.in(kGroupSines), work);
    const Tensor positions = groupPositions(s, l);
    RotarySettings rotary = step.rotary;
    rotary.rotated = cosines.rank() == 2 ? 2 * cosines.dim(1) : 0;
    // What is turned is stored in the queries' type before it is quantized or multiplied.
    const auto stored = [&](Tensor turned) { return asWorkType(s, asStored(s, std::move(turned), type), work); };
    QS_TRY(Tensor q, rotate(s, rotary, t.q, cosines, sines, &positions, step.mode));
    t.q = stored(std::move(q));
    if (l.fresh > 0) {
        QS_TRY(Tensor k, rotate(s, rotary, t.k, cosines, sines, &positions, step.mode));
        t.k = stored(std::move(k));
    }
    return {};
}

/// What is added to the scores: batch x 1 or heads x queries x line, and a column for the score of no key.
template <class W> class ScoreAddend {
public:
    ScoreAddend(const StepContext& s, const GroupStep& step, const GroupLengths& l)
        : m_step(step)
        , m_lengths(l)
    {
        if (s.input(kGroupBias))
            m_bias = asWork<W>(s, s.in(kGroupBias));
        if (s.input(kGroupSink))
            m_sink = asWork<W>(s, s.in(kGroupSink));
        m_blocks = (step.cache.bits || s.in(kGroupQuery).dtype() == DType::Float32) && !hasSink()
            && step.head.softcap == 0 && step.head.stage == 0;
    }
    bool hasSink() const { return m_step.smooth || m_sink.valid(); }
    Status check() const
    {
        const int64_t heads = m_step.head.heads;
        if (m_sink.valid() && m_sink.count() != heads)
            return badInput("head_sink of shape " + shapeText(m_sink.shape()) + " does not hold a number for each of "
                + std::to_string(heads) + " heads");
        if (!m_bias.valid())
            return {};
        const auto fits = [&](size_t d, int64_t n) { return m_bias.dim(d) == 1 || m_bias.dim(d) == n; };
        if (m_bias.rank() == 4 && fits(0, m_lengths.batch) && fits(1, heads) && m_bias.dim(2) == m_lengths.queries
            && m_bias.dim(3) >= m_lengths.total)
            return {};
        return badInput("attention_bias of shape " + shapeText(m_bias.shape()) + " does not fit "
            + std::to_string(heads) + " heads, " + std::to_string(m_lengths.queries) + " tokens and "
            + std::to_string(m_lengths.total) + " keys");
    }
    Tensor build(const StepContext& s) const
    {
        const int64_t heads = m_sink.valid() ? m_step.head.heads : m_bias.valid() ? m_bias.dim(1) : 1;
        const int64_t row = m_lengths.line + hasSink();
        Tensor t = s.allocate(dtypeOf<W>(), { m_lengths.batch, heads, m_lengths.queries, row });
        W* to = t.template fill<W>().data();
        std::fill_n(to, t.count(), -std::numeric_limits<W>::infinity());
        for (int64_t b = 0; b < m_lengths.batch; ++b)
            for (int64_t h = 0; h < heads; ++h)
                for (int64_t q = 0; q < m_lengths.queries; ++q, to += row)
                    fillRow(b, h, q, to);
        return t;
    }

private:
    /// A query sees itself and what is before it, as far as the window goes; not causal, all tokens there are.
    void fillRow(int64_t b, int64_t h, int64_t q, W* to) const
    {
        const GroupLine& line = m_lengths.lines[static_cast<size_t>(b)];
        const int64_t end = m_step.causal ? std::min(line.before + q + 1, line.known) : line.known;
        const int64_t last = m_blocks ? line.before + q + 1 : end;
        const int64_t begin = m_step.window < 0 ? 0 : std::clamp<int64_t>(last - m_step.window, 0, end);
        std::fill(to + begin, to + end, W(0));
        if (m_bias.valid())
            std::copy(biasRow(b, h, q) + line.first + begin, biasRow(b, h, q) + line.first + end, to + begin);
        if (hasSink())
            to[m_lengths.line] = m_sink.valid() ? m_sink.data<W>()[static_cast<size_t>(h)] : W(0);
    }
    const W* biasRow(int64_t b, int64_t h, int64_t q) const
    {
        const int64_t sample = m_bias.dim(0) == 1 ? 0 : b, head = m_bias.dim(1) == 1 ? 0 : h;
        return m_bias.data<W>().data() + ((sample * m_bias.dim(1) + head) * m_bias.dim(2) + q) * m_bias.dim(3);
    }

    const GroupStep& m_step;
    const GroupLengths& m_lengths;
    Tensor m_bias, m_sink;
    /// ONNX Runtime takes its kernel of blocks, whose window begins before the query's own place where that is padding,
    /// too; its other kernel's window begins before the last key that counts.
    bool m_blocks = false;
};

/// One more row of zeros behind each head's: a key whose product is 0, a value that adds nothing.
Tensor withEmptyRow(const StepContext& s, const Tensor& t)
{
    Tensor y = s.allocate(t.dtype(), { t.dim(0), t.dim(1), t.dim(2) + 1, t.dim(3) });
    std::fill_n(writable(y), y.byteCount(), std::byte(0));
    copyStrided(KernelMode::Fast, t, 0, y, 0, { t.shape(), rowMajorStrides(t.shape()), rowMajorStrides(y.shape()) });
    return y;
}

/// The scores that the node puts out: batch x heads x queries x total, 0 for keys that are not seen.
template <class W> Tensor seenScores(const StepContext& s, const GroupLengths& l, const Tensor& scores)
{
    Tensor y = s.allocate(scores.dtype(), { scores.dim(0), scores.dim(1), scores.dim(2), l.total });
    const int64_t rows = scores.dim(0) * scores.dim(1) * scores.dim(2), kept = std::min(l.total, l.line);
    W* to = y.fill<W>().data();
    std::fill_n(to, y.count(), W(0));
    for (int64_t r = 0; r < rows; ++r)
        std::transform(scores.data<W>().data() + r * scores.dim(3), scores.data<W>().data() + r * scores.dim(3) + kept,
            to + r * l.total, [](W v) { return std::isinf(v) ? W(0) : v; });
    return y;
}

template <class W> Status attendLines(const GroupStep& step, StepContext& s, const GroupLengths& l, AttentionTensors t)
{
    const ScoreAddend<W> addend(s, step, l);
    QS_CHECK(addend.check());
    t.mask = addend.build(s);
    if (addend.hasSink()) {
        t.k = withEmptyRow(s, t.k);
        t.v = withEmptyRow(s, t.v);
    }
    const bool scores = s.outputCount() > 3 && step.head.stage != 0;
    QS_TRY(const InnerOp op, attentionOp(step.head, t, step.mode, scores ? 4 : 1));
    QS_TRY(const std::vector<Tensor> y, op.runAll(s, { &t.q, &t.k, &t.v, &t.mask, nullptr, nullptr }));
    const DType type = s.in(kGroupQuery).dtype();
    s.setOutput(0, asStored(s, joinedHeads(s, y[0]), type));
    if (scores)
        s.setOutput(3, asStored(s, seenScores<W>(s, l, y[3]), type));
    return {};
}

Status runGroupQuery(const GroupStep& step, StepContext& s)
{
    QS_CHECK(needInputs(s, 1));
    for (size_t slot : { kGroupLast, kGroupTotal })
        s.in(slot); // required
    const DType type = s.in(kGroupQuery).dtype(), work = attentionWork(type, step.mode);
    QS_CHECK(needFloat(type));
    if (s.in(kGroupQuery).rank() != 3 || (s.input(kGroupPastKey) != nullptr) != (s.input(kGroupPastValue) != nullptr)
        || (s.input(kGroupPastKey) && s.in(kGroupPastKey).rank() != 4))
        return badInput("the queries must be batch x tokens x size, and the caches of keys and values given together");
    if (s.input(kGroupPastKey)
        && (s.in(kGroupPastValue).rank() != 4 || s.in(kGroupPastValue).dim(2) != s.in(kGroupPastKey).dim(2)))
        return badInput("past_key " + shapeText(s.in(kGroupPastKey).shape()) + " and past_value "
            + shapeText(s.in(kGroupPastValue).shape()) + " do not hold as many tokens");
    QS_TRY(AttentionTensors t, groupInputs(step, s, work));
    QS_TRY(const GroupLengths l, groupLengths(s, step.cache, t.k.dim(2)));
    if (step.rotates)
        QS_CHECK(turn(step, s, l, t));
    QS_TRY(GroupCache keys,
        extendedCache(s, step.cache, l, s.input(kGroupPastKey), s.input(kGroupKeyScale), t.k, type, "past_key"));
    QS_TRY(GroupCache values,
        extendedCache(s, step.cache, l, s.input(kGroupPastValue), s.input(kGroupValueScale), t.v, type, "past_value"));
    if (s.wantsUnrounded() && keys.present.valid())
        s.setUnrounded(
            stackedRows(s, uncodedRows(s, step.cache, l, keys, t.k), uncodedRows(s, step.cache, l, values, t.v)));
    t.k = keys.line;
    t.v = values.line;
    QS_CHECK(work == DType::Float64 ? attendLines<double>(step, s, l, std::move(t))
                                    : attendLines<float>(step, s, l, std::move(t)));
    if (s.outputCount() > 1)
        s.setOutput(1, std::move(keys.present));
    if (s.outputCount() > 2)
        s.setOutput(2, std::move(values.present));
    return {};
}

Result<LoweredNode> lowerGroupQuery(const LowerContext& c)
{
    QS_CHECK(needFloat(c.inputType(kGroupQuery)));
    const Attributes& a = c.node.attributes;
    for (const size_t slot : { kGroupQueryNorm, kGroupKeyNorm })
        if (c.node.hasInput(slot))
            return badInput("q_norm_weight and k_norm_weight are not supported, nor by ONNX Runtime on a CPU");
    QS_TRY(const CacheForm cache, CacheForm::of(c.node));
    GroupStep step { attentionHead(c.node), a.integer("kv_num_heads", 0), a.integer("local_window_size", -1),
        a.integer("causal", 1) != 0, a.integer("do_rotary", 0) != 0, a.integer("smooth_softmax", 0) > 0,
        { 0, 0, a.integer("rotary_interleaved", 0) != 0 }, cache, c.mode };
    // Before softmax with everything added, or behind it.
    step.head.stage
        = std::array<int64_t, 3> { 0, 2, 3 }[static_cast<size_t>(std::clamp<int64_t>(a.integer("qk_output", 0), 0, 2))];
    if (step.head.heads < 1 || step.keyHeads < 1 || step.head.heads % step.keyHeads)
        return badInput("num_heads " + std::to_string(step.head.heads) + " is no multiple of kv_num_heads "
            + std::to_string(step.keyHeads));
    if (!step.causal && c.node.hasInput(16))
        return badInput("query_seqlens needs causal attention");
    if (step.cache.slides() && step.head.stage)
        return badInput("qk_output of a sliding cache is not supported, nor by ONNX Runtime");
    LoweredNode lowered { [step](StepContext& s) { return runGroupQuery(step, s); },
        c.mode == KernelMode::Reference ? "reference" : "onednn attention" };
    lowered.offersUnrounded = cache.bits != 0; // keys, and behind them values
    return lowered;
}

} // namespace

void lowerGroupQueryAttention(LoweringRegistry& r) { r.add(kMicrosoftDomain, "GroupQueryAttention", lowerGroupQuery); }

} // namespace qs
