// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/microsoft/attention.h"

#include "core/engine/lower/common/movement.h"
#include "core/engine/lower/microsoft/shared_past.h"
#include "core/engine/registry/registry.h"
#include "core/graph/domains.h"

#include "core/kernels/movement/strided_copy.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <limits>

/// Attention, QAttention and MultiHeadAttention: what they add to ONNX's Attention, which does the work. Source: ONNX
/// Runtime's operator documentation.
namespace qs {

DType attentionWork(DType type, KernelMode mode)
{
    return type == DType::Float64 || mode == KernelMode::Reference ? DType::Float64 : DType::Float32;
}

Tensor asWorkType(const StepContext& s, const Tensor& t, DType work)
{
    return work == DType::Float64 ? asWork<double>(s, t) : asWork<float>(s, t);
}

Tensor asStored(const StepContext& s, Tensor t, DType type)
{
    return t.dtype() == DType::Float64 ? fromWork<double>(s, std::move(t), type)
                                       : fromWork<float>(s, std::move(t), type);
}

Tensor headsOf(const StepContext& s, const Tensor& t, int64_t first, int64_t heads, int64_t size)
{
    const int64_t batch = t.dim(0), tokens = t.dim(1), row = t.dim(2);
    Tensor y = s.allocate(t.dtype(), { batch, heads, tokens, size });
    copyStrided(
        KernelMode::Fast, t, first, y, 0, { y.shape(), { tokens * row, size, row, 1 }, rowMajorStrides(y.shape()) });
    return y;
}

Result<InnerOp> attentionOp(const AttentionHead& head, const AttentionTensors& t, KernelMode mode, size_t outputs)
{
    Node node = innerNode("Attention", {}, 23);
    if (head.scale)
        node.attributes.set("scale", *head.scale);
    if (head.softcap != 0)
        node.attributes.set("softcap", head.softcap);
    if (head.stage != 0)
        node.attributes.set("qk_matmul_output_mode", head.stage);
    std::vector<InnerOp::Input> inputs;
    for (const Tensor* in : { &t.q, &t.k, &t.v, &t.mask, &t.pastK, &t.pastV })
        inputs.push_back({ in->dtype(), {}, in->valid() });
    return InnerOp::make(std::move(node), std::move(inputs), mode, outputs);
}

namespace {

double* maskData(Tensor& t) { return t.fill<double>().data(); }

/// Which keys a token may see, as values added to the scores: batch x queries x keys.
struct MaskShape {
    int64_t batch, queries, keys, past;
};

/// One value a key (1-D: only so many count, from a first one on; 2-D), or one a query and key (3-D). A single one, or
/// one a sample, stands for no mask at all. 3 * batch + 2 numbers begin with how many count.
Status applyMask(const Tensor& mask, const MaskShape& m, double filter, Tensor& out)
{
    if (!isInteger(mask.dtype()))
        return badInput("the mask must hold integers");
    const std::vector<int64_t> v = toInts(mask);
    const Shape& shape = mask.shape();
    if (m.keys != 1 && (shape == Shape { 1, 1 } || shape == Shape { m.batch, 1 }))
        return {};
    const bool ends = shape == Shape { m.batch } || shape == Shape { 3 * m.batch + 2 },
               ranges = shape == Shape { 2 * m.batch } && m.batch > 0;
    const bool keys = shape == Shape { m.batch, m.keys }, all = shape == Shape { m.batch, m.queries, m.keys };
    if (!ends && !ranges && !keys && !all)
        return badInput("a mask of shape " + shapeText(shape) + " is not supported here");
    double* to = maskData(out);
    for (int64_t b = 0; b < m.batch; ++b)
        for (int64_t q = 0; q < m.queries; ++q)
            for (int64_t k = 0; k < m.keys; ++k, ++to) {
                const auto at = [&](int64_t i) { return v[static_cast<size_t>(i)]; };
                const bool seen = keys ? at(b * m.keys + k) > 0
                    : all              ? at((b * m.queries + q) * m.keys + k) > 0
                                       : k < at(b) && (!ranges || k >= at(b + m.batch));
                if (!seen)
                    *to = filter;
            }
    return {};
}

/// Later tokens are left out of each query but the last, which sees every key (also where there are more than queries).
void applyOrder(const MaskShape& m, Tensor& out)
{
    double* to = maskData(out);
    for (int64_t b = 0; b < m.batch; ++b)
        for (int64_t q = 0; q < m.queries; ++q)
            for (int64_t k = 0; k < m.keys; ++k, ++to)
                if (k > m.past + q && q + 1 < m.queries)
                    *to = double(std::numeric_limits<float>::lowest());
}

/// The mask and the bias of the scores together: batch or 1 x heads or 1 x queries x keys. Invalid when there is
/// neither.
Result<Tensor> scoreAddend(
    const StepContext& s, const MaskShape& m, const AttentionHead& head, const Tensor* mask, const Tensor* bias)
{
    Tensor sum;
    if (mask || head.causal) {
        sum = s.allocate(DType::Float64, { m.batch, 1, m.queries, m.keys });
        std::ranges::fill(sum.fill<double>(), 0.0);
        if (mask) {
            QS_CHECK(applyMask(*mask, m, double(head.maskFilter), sum));
        }
        if (head.causal)
            applyOrder(m, sum);
    }
    if (!bias)
        return sum;
    const Shape full { m.batch, head.heads, m.queries, m.keys };
    if (bias->rank() != 4 || bias->dim(2) != m.queries || bias->dim(3) != m.keys
        || broadcastShapes(bias->shape(), full) != full)
        return badInput(
            "a bias of shape " + shapeText(bias->shape()) + " does not fit scores of shape " + shapeText(full));
    const Tensor wide = asWork<double>(s, *bias);
    if (!sum.valid())
        return wide;
    QS_TRY(const InnerOp add,
        InnerOp::make(
            innerNode("Add"), { { DType::Float64, {}, true }, { DType::Float64, {}, true } }, KernelMode::Fast));
    return add.run(s, { &sum, &wide });
}

/// Runs the product of queries, keys and values; sets outputs 0, the presents (both in one when `joined`) and, where
/// they are asked for beside those, the scores with everything added.
Status attend(StepContext& s, AttentionHead head, KernelMode mode, AttentionTensors t, const Tensor* mask,
    const Tensor* bias, DType type, bool joined)
{
    const int64_t past = t.pastK.valid() ? t.pastK.dim(2) : 0;
    const MaskShape m { t.q.dim(0), t.q.dim(2), t.k.dim(2) + past, past };
    QS_TRY(Tensor addend, scoreAddend(s, m, head, mask, bias));
    if (addend.valid())
        t.mask = asStored(s, std::move(addend), t.q.dtype());
    const bool scores = !joined && s.outputCount() > 3;
    if (scores)
        head.stage = 2; // behind mask and bias
    QS_TRY(const InnerOp op, attentionOp(head, t, mode, scores ? 4 : 3));
    const auto given = [](const Tensor& in) { return in.valid() ? &in : nullptr; };
    QS_TRY(std::vector<Tensor> out, op.runAll(s, { &t.q, &t.k, &t.v, given(t.mask), given(t.pastK), given(t.pastV) }));
    s.setOutput(0, asStored(s, joinedHeads(s, out[0]), type));
    if (!joined) {
        for (size_t i = 1; i < std::min<size_t>(s.outputCount(), 3); ++i)
            s.setOutput(i, asStored(s, std::move(out[i]), type));
        if (scores)
            s.setOutput(3, asStored(s, std::move(out[3]), type));
    } else if (s.outputCount() > 1) {
        Shape shape = out[1].shape();
        shape.insert(shape.begin(), 2);
        if (out[2].shape() != out[1].shape())
            return badInput("keys and values of different sizes have no common present");
        Tensor both = s.allocate(out[1].dtype(), shape);
        const size_t half = out[1].byteCount();
        for (size_t i = 0; i < 2; ++i)
            std::ranges::copy(out[i + 1].bytes(), both.fill<std::byte>().data() + i * half);
        s.setOutput(1, asStored(s, std::move(both), type));
    }
    return {};
}

/// First or second half of past: 2 x batch x heads x tokens x size.
Tensor halfOf(const Tensor& past, int64_t half)
{
    const auto owner = std::make_shared<const Tensor>(past);
    return Tensor::wrap(past.dtype(), Shape(past.shape().begin() + 1, past.shape().end()),
        owner->bytes().data() + static_cast<size_t>(half) * past.byteCount() / 2, owner);
}

/// Sizes of queries, keys and values in a row of the projection.
struct ProjectedSizes {
    int64_t q = 0, k = 0, v = 0;
};

Result<ProjectedSizes> projectedSizes(const AttentionHead& head, const Node& node, int64_t row)
{
    const std::vector<int64_t> given = node.attributes.integers("qkv_hidden_sizes");
    ProjectedSizes p { row / 3, row / 3, row - row / 3 * 2 };
    if (given.size() == 3)
        p = { given[0], given[1], given[2] };
    const auto within = [row](int64_t size) { return size >= 1 && size <= row; }; // sums of others leave 64 bits
    if (!within(p.q) || !within(p.v) || p.q != p.k || p.q + p.k + p.v != row || p.q % head.heads || p.v % head.heads)
        return badInput("a projection of " + std::to_string(row)
            + " elements does not hold queries, keys and values of " + std::to_string(head.heads) + " heads");
    return p;
}

/// The projected rows (batch x tokens x queries, keys and values behind each other) through attention.
Status attendProjected(StepContext& s, const AttentionHead& head, const Node& node, KernelMode mode, const Tensor& rows,
    const Tensor* mask, const Tensor* past, const Tensor* bias, DType type)
{
    if (rows.rank() != 3 || rows.dim(2) == 0)
        return badInput("the projected input of shape " + shapeText(rows.shape()) + " is not batch x tokens x size");
    QS_TRY(const ProjectedSizes p, projectedSizes(head, node, rows.dim(2)));
    AttentionTensors t;
    t.q = headsOf(s, rows, 0, head.heads, p.q / head.heads);
    t.k = headsOf(s, rows, p.q, head.heads, p.k / head.heads);
    t.v = headsOf(s, rows, p.q + p.k, head.heads, p.v / head.heads);
    if (past) {
        if (past->rank() != 5 || past->dim(0) != 2)
            return badInput("a past of shape " + shapeText(past->shape()) + " does not hold keys and values");
        const Tensor wide = asWorkType(s, *past, rows.dtype());
        t.pastK = halfOf(wide, 0);
        t.pastV = halfOf(wide, 1);
    }
    return attend(s, head, mode, std::move(t), mask, bias, type, true);
}

struct ProjectingStep {
    AttentionHead head;
    const Node* node;
    KernelMode mode;
    InnerOp projection;
    std::optional<InnerOp> add; ///< of the bias
};

Status runAttention(const ProjectingStep& step, StepContext& s)
{
    QS_CHECK(needInputs(s, 2));
    const Tensor& x = s.in(0);
    if (x.rank() != 3)
        return badInput("the input must be batch x tokens x size, not " + shapeText(x.shape()));
    const DType work = attentionWork(x.dtype(), step.mode);
    const Tensor in = asWorkType(s, x, work), w = asWorkType(s, s.in(1), work);
    QS_TRY(Tensor rows, step.projection.run(s, { &in, &w }));
    if (s.input(2)) {
        const Tensor bias = asWorkType(s, s.in(2), work);
        QS_TRY(rows, step.add->run(s, { &rows, &bias }));
    }
    return attendProjected(s, step.head, *step.node, step.mode, rows, s.input(3), s.input(4), s.input(5), x.dtype());
}

Status rejectAttributes(const Node& node)
{
    for (const char* name : { "do_rotary", "past_present_share_buffer" })
        if (node.attributes.integer(name, 0))
            return badInput(std::string("the attribute ") + name + " is not supported");
    if (node.attributes.integer("num_heads", 0) < 1)
        return badInput("num_heads is missing");
    return {};
}

Result<LoweredNode> lowerAttention(const LowerContext& c)
{
    QS_CHECK(needFloat(c.inputType(0)));
    QS_CHECK(rejectAttributes(c.node));
    const DType work = attentionWork(c.inputType(0), c.mode);
    InnerOp::Input weights { work, {}, true };
    if (c.constant(1)) {
        QS_CHECK(needFloat(c.constant(1)->dtype()));
        BufferPool pool;
        const StepContext none({}, {}, pool);
        weights.constant = asWorkType(none, *c.constant(1), work);
    }
    const InnerOp::Input computed { work, {}, true };
    QS_TRY(InnerOp product, InnerOp::make(innerNode("MatMul"), { computed, weights }, c.mode));
    QS_TRY(InnerOp add, InnerOp::make(innerNode("Add"), { computed, computed }, c.mode));
    const auto step = std::make_shared<const ProjectingStep>(
        ProjectingStep { attentionHead(c.node), &c.node, c.mode, std::move(product), std::move(add) });
    return LoweredNode { [step](StepContext& s) { return runAttention(*step, s); },
        c.mode == KernelMode::Reference ? "reference" : "onednn attention" };
}

Status runQAttention(const ProjectingStep& step, StepContext& s)
{
    QS_CHECK(needInputs(s, 5));
    if (s.in(0).rank() != 3)
        return badInput("the input must be batch x tokens x size, not " + shapeText(s.in(0).shape()));
    QS_TRY(Tensor rows,
        step.projection.run(s, { &s.in(0), &s.in(1), &s.in(3), &s.in(4), s.input(6), s.input(7), &s.in(2) }));
    const DType type = s.in(2).dtype();
    rows = asWorkType(s, rows, attentionWork(type, step.mode));
    return attendProjected(s, step.head, *step.node, step.mode, rows, s.input(5), s.input(8), nullptr, type);
}

Result<LoweredNode> lowerQAttention(const LowerContext& c)
{
    QS_CHECK(rejectAttributes(c.node));
    std::vector<InnerOp::Input> inputs;
    for (size_t slot : { 0, 1, 3, 4, 6, 7, 2 })
        inputs.push_back(InnerOp::of(c, slot));
    QS_TRY(InnerOp product,
        InnerOp::make(innerNode("MatMulIntegerToFloat", kMicrosoftDomain, 1), inputs, c.mode, 1, c.saturation));
    const auto step = std::make_shared<const ProjectingStep>(
        ProjectingStep { attentionHead(c.node), &c.node, c.mode, std::move(product), {} });
    LoweredNode lowered { [step](StepContext& s) { return runQAttention(*step, s); }, step->projection.kernel() };
    lowered.countsPairs = step->projection.lowered().countsPairs;
    return lowered;
}

/// Inputs of MultiHeadAttention as batch x heads x tokens x size, with their part of the bias added.
class HeadInputs {
public:
    HeadInputs(const StepContext& s, const AttentionHead& head, DType work)
        : m_step(s)
        , m_head(head)
        , m_work(work)
    {
        if (s.input(3))
            m_bias = asWorkType(s, s.in(3), work);
    }
    /// Reads them all; packed ones hold an axis of queries, keys and values behind the heads.
    Result<AttentionTensors> read()
    {
        AttentionTensors t;
        const Tensor& q = m_step.in(0);
        if (q.rank() == 5)
            return unpack(q, 3, { &t.q, &t.k, &t.v }, t);
        QS_TRY(t.q, part(q));
        if (!m_step.input(1))
            return badInput("there are no keys");
        if (m_step.in(1).rank() == 5)
            return unpack(m_step.in(1), 2, { &t.k, &t.v }, t);
        if (!m_step.input(2))
            return badInput("there are no values");
        QS_TRY(t.k, part(m_step.in(1)));
        QS_TRY(t.v, part(m_step.in(2)));
        if (m_bias.valid() && m_used != m_bias.count())
            return badInput("a bias of " + std::to_string(m_bias.count()) + " elements does not fit");
        return t;
    }

private:
    /// Adds the next `count` elements of the bias to rows of so many.
    Result<Tensor> biased(Tensor rows, int64_t count)
    {
        if (!m_bias.valid())
            return rows;
        if (m_used + count > m_bias.count())
            return badInput("a bias of " + std::to_string(m_bias.count()) + " elements is too short");
        const auto owner = std::make_shared<const Tensor>(m_bias);
        const size_t bytes = dtypeBits(m_work) / 8;
        const Tensor slice
            = Tensor::wrap(m_work, { count }, owner->bytes().data() + static_cast<size_t>(m_used) * bytes, owner);
        m_used += count;
        QS_TRY(const InnerOp add,
            InnerOp::make(innerNode("Add"), { { m_work, {}, true }, { m_work, {}, true } }, KernelMode::Fast));
        return add.run(m_step, { &rows, &slice });
    }
    Result<Tensor> part(const Tensor& t)
    {
        Tensor rows = asWorkType(m_step, t, m_work);
        if (t.rank() == 4) { // a cache: heads first, with its part of the bias added before
            m_used += m_bias.valid() ? t.dim(1) * t.dim(3) : 0;
            return rows;
        }
        if (t.rank() != 3 || t.dim(2) % m_head.heads)
            return badInput("an input of shape " + shapeText(t.shape()) + " does not hold "
                + std::to_string(m_head.heads) + " heads");
        QS_TRY(rows, biased(std::move(rows), t.dim(2)));
        return headsOf(m_step, rows, 0, m_head.heads, t.dim(2) / m_head.heads);
    }
    Result<AttentionTensors> unpack(
        const Tensor& t, int64_t parts, const std::vector<Tensor*>& to, AttentionTensors& all)
    {
        if (t.dim(2) != m_head.heads || t.dim(3) != parts || m_bias.valid())
            return badInput("a packed input of shape " + shapeText(t.shape()) + " is not supported here");
        const Tensor x = asWorkType(m_step, t, m_work);
        const int64_t batch = t.dim(0), tokens = t.dim(1), heads = t.dim(2), size = t.dim(4);
        for (size_t i = 0; i < to.size(); ++i) {
            Tensor y = m_step.allocate(m_work, { batch, heads, tokens, size });
            copyStrided(KernelMode::Fast, x, static_cast<int64_t>(i) * size, y, 0,
                { y.shape(), { tokens * heads * parts * size, parts * size, heads * parts * size, 1 },
                    rowMajorStrides(y.shape()) });
            *to[i] = std::move(y);
        }
        return all;
    }

    const StepContext& m_step;
    const AttentionHead& m_head;
    DType m_work;
    Tensor m_bias;
    int64_t m_used = 0;
};

/// The presents are the buffers of the past with the new tokens in their places. Single tokens follow their beams.
Status attendInBuffer(StepContext& s, const AttentionHead& head, KernelMode mode, AttentionTensors t, DType type)
{
    QS_TRY(SharedPast past, sharedPast(s, t.k.dim(2)));
    const Tensor keys = asWorkType(s, *past.keys, t.k.dtype()), values = asWorkType(s, *past.values, t.v.dtype());
    const auto fits = [](const Tensor& buffer, const Tensor& fresh) {
        return buffer.dim(0) == fresh.dim(0) && buffer.dim(1) == fresh.dim(1) && buffer.dim(3) == fresh.dim(3);
    };
    if (!fits(keys, t.k) || !fits(values, t.v) || t.k.dim(2) != t.v.dim(2))
        return badInput("pasts of shape " + shapeText(keys.shape()) + " and " + shapeText(values.shape())
            + " do not fit the keys and values");
    const bool single = t.q.dim(2) == 1;
    QS_TRY(t.pastK, knownTokens(s, past, keys, single));
    QS_TRY(t.pastV, knownTokens(s, past, values, single));
    Tensor presentKeys = filledBuffer(s, past, keys, t.k), presentValues = filledBuffer(s, past, values, t.v);
    QS_CHECK(attend(s, head, mode, std::move(t), s.input(4), s.input(5), type, false));
    s.setOutput(1, asStored(s, std::move(presentKeys), type));
    s.setOutput(2, asStored(s, std::move(presentValues), type));
    return {};
}

Status runMultiHead(const AttentionHead& head, KernelMode mode, StepContext& s)
{
    QS_CHECK(needInputs(s, 1));
    const DType type = s.in(0).dtype(), work = attentionWork(type, mode);
    QS_CHECK(needFloat(type));
    for (const size_t past : { 6, 7 })
        if (s.input(past) && s.in(past).rank() != 4)
            return badInput(
                "a past of shape " + shapeText(s.in(past).shape()) + " is not batch x heads x tokens x size");
    QS_TRY(AttentionTensors t, HeadInputs(s, head, work).read());
    if (t.q.rank() == 4 && t.q.dim(3) == 0)
        return badInput("heads without elements");
    if (s.input(6) && s.input(7) && s.input(8))
        return attendInBuffer(s, head, mode, std::move(t), type);
    if (s.input(6) && s.input(7)) {
        t.pastK = asWorkType(s, s.in(6), work);
        t.pastV = asWorkType(s, s.in(7), work);
    }
    return attend(s, head, mode, std::move(t), s.input(4), s.input(5), type, false);
}

Result<LoweredNode> lowerMultiHead(const LowerContext& c)
{
    QS_CHECK(needFloat(c.inputType(0)));
    QS_CHECK(rejectAttributes(c.node));
    return LoweredNode { [head = attentionHead(c.node), mode = c.mode](
                             StepContext& s) { return runMultiHead(head, mode, s); },
        c.mode == KernelMode::Reference ? "reference" : "onednn attention" };
}

} // namespace

AttentionHead attentionHead(const Node& node)
{
    const Attributes& a = node.attributes;
    AttentionHead head;
    head.heads = a.integer("num_heads", 1);
    head.causal = a.integer("unidirectional", 0) != 0;
    head.maskFilter = a.real("mask_filter_value", -10000.0f);
    head.softcap = a.real("softcap", 0);
    if (const float scale = a.real("scale", 0); scale != 0)
        head.scale = scale;
    return head;
}

void lowerMicrosoftAttention(LoweringRegistry& r)
{
    r.add(kMicrosoftDomain, "Attention", lowerAttention);
    r.add(kMicrosoftDomain, "QAttention", lowerQAttention);
    r.add(kMicrosoftDomain, "MultiHeadAttention", lowerMultiHead);
    lowerGroupQueryAttention(r);
    lowerRotaryEmbedding(r);
    lowerCacheReader(r);
    lowerGates(r);
    lowerSparseAttention(r);
    lowerDecoderAttention(r);
}

} // namespace qs
