// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/attention/parts.h"
#include "core/engine/lower/common/float_work.h"
#include "core/engine/lower/common/movement.h"
#include "core/engine/lower/common/numeric_inputs.h"
#include "core/engine/registry/registry.h"

#include "core/kernels/movement/strided_copy.h"
#include "core/kernels/sequence/attention.h"
#include "core/tensor/convert.h"

#include <cmath>
#include <limits>

namespace qs {

Tensor joinedHeads(const StepContext& s, const Tensor& t)
{
    const int64_t batch = t.dim(0), heads = t.dim(1), tokens = t.dim(2), size = t.dim(3);
    Tensor y = s.allocate(t.dtype(), { batch, tokens, heads * size });
    copyStrided(KernelMode::Fast, t, 0, y, 0,
        { { batch, tokens, heads, size }, { heads * tokens * size, size, tokens * size, 1 },
            rowMajorStrides({ batch, tokens, heads, size }) });
    return y;
}

namespace {

/// Which keys a query sees, by how far they lie from it.
struct KeyWindow {
    bool causal;
    int64_t left, right; ///< -1: no bound

    bool bounded() const { return causal || left >= 0 || right >= 0; }
    bool sees(int64_t query, int64_t key) const
    {
        return (!causal || key <= query) && (left < 0 || key >= query - left) && (right < 0 || key <= query + right);
    }
};

struct AttentionStep {
    KernelMode mode;
    int64_t heads, keyHeads; ///< 0: the inputs have a head axis
    std::optional<float> scale;
    float softcap;
    KeyWindow window;
    int64_t stage;
    std::shared_ptr<FloatMatmul> products = std::make_shared<FloatMatmul>(nullptr);
};

/// Batch, heads, tokens, size; from batch, tokens, heads * size when `heads` is given. W: float or double.
template <class W> Result<Tensor> withHeads(const StepContext& c, const Tensor& t, int64_t heads)
{
    const Tensor x = asWork<W>(c, t);
    if (t.rank() == 4)
        return x;
    if (t.rank() != 3 || heads <= 0 || t.dim(2) % heads != 0 || t.dim(2) == 0)
        return badInput("an input of shape " + shapeText(t.shape()) + " does not hold " + std::to_string(heads)
            + " heads; set q_num_heads and kv_num_heads");
    const int64_t batch = t.dim(0), tokens = t.dim(1), size = t.dim(2) / heads;
    Tensor y = c.allocate(x.dtype(), { batch, heads, tokens, size });
    copyStrided(KernelMode::Fast, x, 0, y, 0,
        { { batch, heads, tokens, size }, { tokens * heads * size, size, heads * size, 1 },
            rowMajorStrides(y.shape()) });
    return y;
}

/// `past` and `t` one after another along the token axis.
template <class W> Result<Tensor> withPast(const StepContext& c, const Tensor& t, const Tensor* past)
{
    if (!past)
        return t;
    bool fits = past->rank() == 4;
    for (size_t d = 0; fits && d < 4; ++d)
        fits = d == 2 || past->dim(d) == t.dim(d);
    if (!fits)
        return badInput("a past of shape " + shapeText(past->shape()) + " does not fit " + shapeText(t.shape()));
    const Tensor before = asWork<W>(c, *past);
    Tensor y = c.allocate(t.dtype(), { t.dim(0), t.dim(1), before.dim(2) + t.dim(2), t.dim(3) });
    const auto to = rowMajorStrides(y.shape());
    copyStrided(KernelMode::Fast, before, 0, y, 0, { before.shape(), rowMajorStrides(before.shape()), to });
    copyStrided(KernelMode::Fast, t, 0, y, before.dim(2) * t.dim(3), { t.shape(), rowMajorStrides(t.shape()), to });
    return y;
}

Result<AttentionShape> attentionShape(const AttentionStep& step, const Tensor& q, const Tensor& k, const Tensor& v)
{
    AttentionShape s { q.dim(0), q.dim(1), k.dim(1), q.dim(2), k.dim(2), q.dim(3), v.dim(3), 1, step.softcap };
    const bool fits = k.dim(0) == s.batch && v.dim(0) == s.batch && v.dim(1) == s.keyHeads && k.dim(3) == s.keySize
        && v.dim(2) == s.keys && s.keyHeads > 0 && s.heads % s.keyHeads == 0;
    if (!fits)
        return badInput("queries " + shapeText(q.shape()) + ", keys " + shapeText(k.shape()) + " and values "
            + shapeText(v.shape()) + " do not fit");
    s.scale = step.scale && *step.scale != 0 ? double(*step.scale) : 1 / std::sqrt(double(s.keySize));
    return s;
}

/// Mask, window and padding as one addend. A mask that is too short leaves the last keys out.
template <class W> class BiasBuilder {
public:
    BiasBuilder(const AttentionShape& s, const Tensor* mask, const Tensor* lengths)
        : m_shape(s)
        , m_mask(mask)
        , m_lengths(lengths)
    {
    }
    Status check() const
    {
        const Shape full { m_shape.batch, m_shape.heads, m_shape.queries, m_shape.keys };
        if (m_lengths && (m_lengths->count() != m_shape.batch || !isInteger(m_lengths->dtype())))
            return badInput("nonpad_kv_seqlen must hold one length a sample");
        if (!m_mask)
            return {};
        Shape padded = m_mask->shape();
        if (!padded.empty() && padded.back() < m_shape.keys)
            padded.back() = m_shape.keys;
        if (padded.empty() || padded.size() > 4 || broadcastShapes(padded, full) != full)
            return badInput(
                "a mask of shape " + shapeText(m_mask->shape()) + " does not fit scores of shape " + shapeText(full));
        return {};
    }
    /// The queries follow `past` keys, or are the last ones of the lengths.
    Tensor build(const StepContext& c, const KeyWindow& window, int64_t past) const
    {
        Shape mask(4, 1);
        if (m_mask)
            std::copy(m_mask->shape().begin(), m_mask->shape().end(), mask.end() - std::ptrdiff_t(m_mask->rank()));
        Tensor bias
            = c.allocate(dtypeOf<W>(), { m_lengths ? m_shape.batch : mask[0], mask[1], m_shape.queries, m_shape.keys });
        const std::vector<double> values = m_mask ? toDoubles(*m_mask) : std::vector<double>();
        const bool boolean = m_mask && m_mask->dtype() == DType::Bool;
        constexpr double kOut = -std::numeric_limits<double>::infinity();
        W* out = bias.template fill<W>().data();
        for (int64_t b = 0; b < bias.dim(0); ++b) {
            constexpr int64_t kFarthest = int64_t(1) << 62;
            const int64_t known
                = m_lengths ? std::clamp(elementAsInt(*m_lengths, b), -kFarthest, kFarthest) : m_shape.keys;
            const int64_t offset = m_lengths ? known - m_shape.queries : past;
            for (int64_t h = 0; h < bias.dim(1); ++h)
                for (int64_t q = 0; q < m_shape.queries; ++q)
                    for (int64_t k = 0; k < m_shape.keys; ++k) {
                        double v = 0;
                        if (m_mask && k >= mask[3])
                            v = kOut;
                        else if (m_mask)
                            v = values[size_t(cell(mask, b, h, q, k))];
                        if (boolean && v != kOut)
                            v = v != 0 ? 0 : kOut;
                        if (k >= known || !window.sees(q + offset, k))
                            v = kOut;
                        *out++ = W(v);
                    }
        }
        return bias;
    }

private:
    static int64_t cell(const Shape& mask, int64_t b, int64_t h, int64_t q, int64_t k)
    {
        const auto at = [&](size_t d, int64_t i) { return mask[d] == 1 ? 0 : i; };
        return ((at(0, b) * mask[1] + at(1, h)) * mask[2] + at(2, q)) * mask[3] + k;
    }
    const AttentionShape& m_shape;
    const Tensor* m_mask;
    const Tensor* m_lengths;
};

template <class W> AttentionBias<W> asBias(const Tensor& t)
{
    AttentionBias<W> bias { t.data<W>().data(), {} };
    const auto strides = rowMajorStrides(t.shape());
    for (size_t d = 0; d < 4; ++d)
        bias.strides[d] = t.dim(d) == 1 ? 0 : strides[d];
    return bias;
}

/// False when there is no kernel of this type for the shape.
bool attend(const AttentionStep& step, const StepContext& c, const AttentionShape& s, const AttentionData<float>& d)
{
    const auto fast = PreparedAttention::make(s, *step.products, d.bias.data && !d.scores);
    if (!fast)
        return false;
    Tensor scratch = c.allocate(DType::UInt8, { int64_t(fast->scratchBytes()) });
    return fast->run(d, writable(scratch));
}
bool attend(const AttentionStep&, const StepContext&, const AttentionShape& s, const AttentionData<double>& d)
{
    attentionReference(s, d);
    return true;
}

/// False: not in this type.
template <class W> Result<bool> runAs(const AttentionStep& step, StepContext& c)
{
    QS_TRY(const Tensor q, withHeads<W>(c, c.in(0), step.heads));
    QS_TRY(const Tensor newK, withHeads<W>(c, c.in(1), step.keyHeads));
    QS_TRY(const Tensor newV, withHeads<W>(c, c.in(2), step.keyHeads));
    QS_TRY(const Tensor k, withPast<W>(c, newK, c.input(4)));
    QS_TRY(const Tensor v, withPast<W>(c, newV, c.input(5)));
    QS_TRY(const AttentionShape s, attentionShape(step, q, k, v));
    AttentionData<W> d { q.data<W>().data(), k.data<W>().data(), v.data<W>().data(), {}, nullptr, nullptr, {} };
    const BiasBuilder<W> builder(s, c.input(3), c.input(6));
    QS_CHECK(builder.check());
    Tensor bias;
    if (step.window.bounded() || c.input(3) || c.input(6)) {
        bias = builder.build(c, step.window, k.dim(2) - newK.dim(2));
        d.bias = asBias<W>(bias);
    }
    Tensor y = c.allocate(dtypeOf<W>(), { s.batch, s.heads, s.queries, s.valueSize });
    Tensor scores;
    d.y = y.fill<W>().data();
    if (c.outputCount() > 3) {
        scores = c.allocate(dtypeOf<W>(), { s.batch, s.heads, s.queries, s.keys });
        d.scores = scores.fill<W>().data();
        d.stage = static_cast<AttentionStage>(step.stage);
    }
    if (!attend(step, c, s, d))
        return false;
    const DType type = c.in(0).dtype();
    c.setOutput(0, fromWork<W>(c, c.in(0).rank() == 3 ? joinedHeads(c, y) : std::move(y), type));
    if (c.outputCount() > 1)
        c.setOutput(1, fromWork<W>(c, k, c.in(1).dtype()));
    if (c.outputCount() > 2)
        c.setOutput(2, fromWork<W>(c, v, c.in(2).dtype()));
    if (scores.valid())
        c.setOutput(3, fromWork<W>(c, std::move(scores), type));
    return true;
}

Status runAttention(const AttentionStep& step, StepContext& c)
{
    QS_CHECK(needNumericInputs(c));
    for (size_t i = 0; i < 3; ++i) {
        if (!isComputedFloat(c.in(i).dtype()))
            return unsupportedType(c.in(i).dtype());
        if (c.in(i).rank() != c.in(0).rank())
            return badInput("queries, keys and values differ in rank");
    }
    if (step.mode == KernelMode::Fast && c.in(0).dtype() != DType::Float64) {
        QS_TRY(const bool done, runAs<float>(step, c));
        if (done)
            return {};
    }
    QS_CHECK(runAs<double>(step, c));
    return {};
}

Result<LoweredNode> lowerDotAttention(const LowerContext& context)
{
    QS_CHECK(needFloat(context.inputType(0)));
    const Attributes& a = context.node.attributes;
    AttentionStep step { context.mode, a.integer("q_num_heads", 0), a.integer("kv_num_heads", 0), {},
        a.real("softcap", 0),
        { a.integer("is_causal", 0) != 0, a.integer("left_window_size", -1), a.integer("right_window_size", -1) },
        a.integer("qk_matmul_output_mode", 0) };
    if (const auto* scale = a.get<float>("scale"))
        step.scale = *scale;
    if (step.stage < 0 || step.stage > 3)
        return badInput("qk_matmul_output_mode " + std::to_string(step.stage) + " is unknown");
    return LoweredNode { [step](StepContext& c) { return runAttention(step, c); },
        context.mode == KernelMode::Fast ? "onednn attention" : "reference" };
}

} // namespace

void lowerAttentions(LoweringRegistry& r)
{
    r.add("", "Attention", lowerDotAttention);
    lowerFlexAttention(r);
    lowerTokenMixing(r);
}

} // namespace qs
