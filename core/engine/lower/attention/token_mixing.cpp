// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/attention/parts.h"
#include "core/engine/lower/common/float_work.h"
#include "core/engine/lower/common/movement.h"
#include "core/engine/lower/common/numeric_inputs.h"
#include "core/engine/registry/registry.h"
#include "core/graph/domains.h"

#include "core/kernels/movement/indexed_copy.h"
#include "core/kernels/movement/strided_copy.h"
#include "core/kernels/sequence/token_mixing.h"
#include "core/tensor/convert.h"

#include <cmath>
#include <cstring>
#include <numeric>

namespace qs {

namespace {

struct RotaryStep {
    KernelMode mode;
    int64_t heads, rotated;
    bool interleaved;
};

Result<RotaryShape> rotaryShape(const RotaryStep& step, const Tensor& x)
{
    RotaryShape s;
    s.interleaved = step.interleaved;
    s.batch = x.rank() > 0 ? x.dim(0) : 0;
    if (x.rank() == 4) {
        s.heads = x.dim(1);
        s.tokens = x.dim(2);
        s.headSize = x.dim(3);
        s.tokenStride = s.headSize;
        s.headStride = s.tokens * s.headSize;
    } else if (x.rank() == 3 && step.heads > 0 && x.dim(2) % step.heads == 0) {
        s.heads = step.heads;
        s.tokens = x.dim(1);
        s.headSize = x.dim(2) / s.heads;
        s.tokenStride = x.dim(2);
        s.headStride = s.headSize;
    } else {
        return badInput("an input of shape " + shapeText(x.shape()) + " does not hold " + std::to_string(step.heads)
            + " heads; set num_heads");
    }
    s.batchStride = s.heads * s.tokens * s.headSize;
    s.rotated = step.rotated > 0 ? step.rotated : s.headSize;
    if (s.headSize == 0)
        return badInput("heads without elements");
    if (s.rotated > s.headSize || s.rotated % 2 != 0)
        return badInput("heads of size " + std::to_string(s.headSize) + " cannot be turned over "
            + std::to_string(s.rotated) + " elements");
    return s;
}

/// Row in the caches of each token.
Result<std::vector<int64_t>> cacheRows(const RotaryShape& s, const StepContext& c)
{
    const Tensor &cosines = c.in(1), &sines = c.in(2);
    const auto tokens = s.batch * s.tokens;
    if (cosines.shape() != sines.shape() || cosines.rank() < 2 || cosines.shape().back() != s.rotated / 2)
        return badInput("caches of shape " + shapeText(cosines.shape()) + " and " + shapeText(sines.shape())
            + " do not fit " + std::to_string(s.rotated) + " turned elements");
    const int64_t size = product(cosines.shape(), 0, cosines.rank() - 1);
    std::vector<int64_t> rows(static_cast<size_t>(tokens));
    std::iota(rows.begin(), rows.end(), 0);
    if (const Tensor* positions = c.input(3)) {
        rows = toInts(*positions);
        if (static_cast<int64_t>(rows.size()) != tokens)
            return badInput(
                "there are " + std::to_string(rows.size()) + " positions for " + std::to_string(tokens) + " tokens");
    }
    for (int64_t row : rows)
        if (row < 0 || row >= size)
            return badInput(
                "position " + std::to_string(row) + " is outside caches of " + std::to_string(size) + " rows", {},
                "give at most " + std::to_string(size) + " tokens, what is continued among them");
    return rows;
}

Status runRotary(const RotaryStep& step, StepContext& c)
{
    QS_CHECK(needNumericInputs(c));
    const Tensor& x = c.in(0);
    if (!isComputedFloat(x.dtype()))
        return unsupportedType(x.dtype());
    QS_TRY(const RotaryShape s, rotaryShape(step, x));
    QS_TRY(const auto rows, cacheRows(s, c));
    withFloatWork(x.dtype(), step.mode, [&](auto work) {
        using W = decltype(work);
        const Tensor in = asWork<W>(c, x), cosines = asWork<W>(c, c.in(1)), sines = asWork<W>(c, c.in(2));
        Tensor y = c.allocate(dtypeOf<W>(), x.shape());
        rotaryEmbed<W>(
            s, in.data<W>().data(), cosines.data<W>().data(), sines.data<W>().data(), rows.data(), y.fill<W>().data());
        c.setOutput(0, fromWork<W>(c, std::move(y), x.dtype()));
    });
    return {};
}

Result<LoweredNode> lowerRotary(const LowerContext& context)
{
    QS_CHECK(needFloat(context.inputType(0)));
    const Attributes& a = context.node.attributes;
    const RotaryStep step { context.mode, a.integer("num_heads", 0), a.integer("rotary_embedding_dim", 0),
        a.integer("interleaved", 0) != 0 };
    return LoweredNode { [step](StepContext& c) { return runRotary(step, c); },
        context.mode == KernelMode::Reference ? "reference" : "rotary" };
}

Status runTensorScatter(const Node& node, KernelMode, StepContext& s)
{
    QS_CHECK(needInputs(s, 2));
    const Tensor &cache = s.in(0), &update = s.in(1);
    QS_TRY(const size_t axis, axisOf(node.attributes.integer("axis", -2), cache.rank()));
    bool fits = update.rank() == cache.rank() && update.dtype() == cache.dtype() && axis > 0;
    for (size_t d = 0; fits && d < cache.rank(); ++d)
        fits = d == axis ? update.dim(d) <= cache.dim(d) : update.dim(d) == cache.dim(d);
    const Tensor* given = s.input(2);
    if (!fits || (given && given->count() != cache.dim(0)))
        return badInput("an update of shape " + shapeText(update.shape()) + " does not fit a cache of shape "
            + shapeText(cache.shape()));
    if (update.count() == 0) { // of however many tokens
        s.setOutput(0, cache);
        return {};
    }
    const bool circular = node.attributes.text("mode", "linear") == "circular";
    const int64_t size = cache.dim(axis), length = update.dim(axis), outer = product(cache.shape(), 0, axis);
    std::vector<int64_t> blocks;
    for (int64_t o = 0; o < outer; ++o) {
        const int64_t first = given ? elementAsInt(*given, o / (outer / cache.dim(0))) : 0;
        if (first < 0 || (!circular && first > size - length))
            return badInput(
                "a write at " + std::to_string(first) + " is outside a cache of size " + std::to_string(size));
        for (int64_t t = 0; t < length; ++t)
            blocks.push_back(o * size + (first % size + t) % size);
    }
    const Movable movable({ &cache, &update });
    Tensor out = s.allocate(movable.dtype(), cache.shape());
    std::memcpy(writable(out), movable[0].bytes().data(), out.byteCount());
    const auto block = static_cast<size_t>(product(cache.shape(), axis + 1, cache.rank())) * movable.elementBytes();
    scatterBlocks(movable[1].bytes().data(), writable(out), block, blocks);
    s.setOutput(0, movable.back(out));
    return {};
}

struct LinearAttentionStep {
    KernelMode mode;
    int64_t queries, values; ///< heads
    float scale;
    bool gated, delta;
};

Result<LinearAttentionShape> linearShape(const LinearAttentionStep& step, const StepContext& c)
{
    const Tensor &q = c.in(0), &k = c.in(1), &v = c.in(2);
    LinearAttentionShape s;
    s.queries = step.queries;
    s.values = step.values;
    bool fits = q.rank() == 3 && k.rank() == 3 && v.rank() == 3 && q.dim(2) >= s.queries;
    if (fits) {
        s.batch = q.dim(0);
        s.tokens = q.dim(1);
        s.keySize = q.dim(2) / s.queries;
        s.valueSize = v.dim(2) / s.values;
        s.keys = k.dim(2) / s.keySize;
        fits = k.shape() == Shape { s.batch, s.tokens, s.keys * s.keySize } && q.dim(2) == s.queries * s.keySize
            && v.shape() == Shape { s.batch, s.tokens, s.values * s.valueSize } && s.keys > 0 && s.values % s.keys == 0;
    }
    if (!fits || s.keySize == 0 || s.valueSize == 0)
        return badInput("queries " + shapeText(q.shape()) + ", keys " + shapeText(k.shape()) + " and values "
            + shapeText(v.shape()) + " do not fit");
    if ((c.input(4) != nullptr) != step.gated || (c.input(5) != nullptr) != step.delta)
        return badInput("its inputs decay and beta do not fit its update_rule");
    if (step.gated)
        s.decays = c.in(4).count() / std::max<int64_t>(s.batch * s.tokens * s.values, 1);
    if (step.delta)
        s.rates = c.in(5).count() / std::max<int64_t>(s.batch * s.tokens, 1);
    const Shape state { s.batch, s.values, s.keySize, s.valueSize };
    if ((s.decays > 1 && s.decays != s.keySize) || (s.rates > 1 && s.rates != s.values)
        || (step.gated && c.in(4).count() != s.batch * s.tokens * s.values * s.decays)
        || (step.delta && c.in(5).count() != s.batch * s.tokens * s.rates) || (c.input(3) && c.in(3).shape() != state))
        return badInput("the shape of its decay, beta or past_state does not fit");
    s.scale = step.scale != 0 ? double(step.scale) : 1 / std::sqrt(double(s.keySize));
    return s;
}

Status runLinearAttention(const LinearAttentionStep& step, StepContext& c)
{
    QS_CHECK(needNumericInputs(c));
    for (size_t i = 0; i < 3; ++i)
        if (!isComputedFloat(c.in(i).dtype()))
            return unsupportedType(c.in(i).dtype());
    QS_TRY(const LinearAttentionShape s, linearShape(step, c));
    withFloatWork(c.in(0).dtype(), step.mode, [&](auto work) {
        using W = decltype(work);
        const Tensor q = asWork<W>(c, c.in(0)), k = asWork<W>(c, c.in(1)), v = asWork<W>(c, c.in(2));
        const Tensor decay = step.gated ? asWork<W>(c, c.in(4)) : Tensor();
        const Tensor rate = step.delta ? asWork<W>(c, c.in(5)) : Tensor();
        Tensor state = c.allocate(dtypeOf<W>(), { s.batch, s.values, s.keySize, s.valueSize });
        const Tensor past = c.input(3) ? asWork<W>(c, c.in(3)) : Tensor();
        if (past.valid())
            std::ranges::copy(past.data<W>(), state.fill<W>().begin());
        else
            std::ranges::fill(state.fill<W>(), W(0));
        Tensor y = c.allocate(dtypeOf<W>(), { s.batch, s.tokens, s.outputs() * s.valueSize });
        linearAttention<W>(s,
            { q.data<W>().data(), k.data<W>().data(), v.data<W>().data(), dataOrNull<W>(decay), dataOrNull<W>(rate),
                state.fill<W>().data(), y.fill<W>().data() });
        c.setOutput(0, fromWork<W>(c, std::move(y), c.in(0).dtype()));
        if (c.outputCount() > 1)
            c.setOutput(1, fromWork<W>(c, std::move(state), (c.input(3) ? c.in(3) : c.in(0)).dtype()));
    });
    return {};
}

Result<LoweredNode> lowerLinearAttention(const LowerContext& context)
{
    QS_CHECK(needFloat(context.inputType(0)));
    const Attributes& a = context.node.attributes;
    const std::string rule = a.text("update_rule", "gated_delta");
    if (rule != "linear" && rule != "gated" && rule != "delta" && rule != "gated_delta")
        return badInput("the update rule '" + rule + "' is unknown");
    if (a.integer("state_window", 0) != 0)
        return badInput("state_window is not 0, which ONNX Runtime computes on GPUs alone");
    const LinearAttentionStep step { context.mode, a.integer("q_num_heads", 0), a.integer("kv_num_heads", 0),
        a.real("scale", 0), rule.starts_with("gated"), rule.ends_with("delta") };
    if (step.values <= 0 || step.queries <= 0 || (step.queries % step.values != 0 && step.values % step.queries != 0))
        return badInput("of q_num_heads and kv_num_heads one must be a multiple of the other");
    return LoweredNode { [step](StepContext& c) { return runLinearAttention(step, c); }, "recurrent attention" };
}

} // namespace

void lowerTokenMixing(LoweringRegistry& r)
{
    r.add("", "RotaryEmbedding", lowerRotary);
    r.add("", "TensorScatter", copying<runTensorScatter>);
    r.add("", "LinearAttention", lowerLinearAttention);
    r.add(kMicrosoftDomain, "LinearAttention", lowerLinearAttention);
    lowerCausalConvs(r);
}

} // namespace qs
