// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/common/float_work.h"
#include "core/engine/lower/common/row_parts.h"
#include "core/engine/lower/norm/parts.h"
#include "core/engine/registry/registry.h"
#include "core/graph/domains.h"

#include "core/kernels/elementwise/broadcast.h"

#include <algorithm>
#include <functional>

namespace qs {

namespace {

enum class BlockKind { Layer, Rms, Simplified, Instance, Group, SkipLayer, SkipSimplified };

bool skips(BlockKind kind) { return kind == BlockKind::SkipLayer || kind == BlockKind::SkipSimplified; }
bool centres(BlockKind kind)
{
    return kind != BlockKind::Rms && kind != BlockKind::Simplified && kind != BlockKind::SkipSimplified;
}

struct BlockNormStep {
    BlockKind kind;
    KernelMode mode;
    double epsilon;
    int64_t axis;
    int64_t groups;
    bool perGroup; ///< GroupNormalization before opset 21: one scale a group
    DType statistics; ///< type of LayerNormalization's mean and inverse deviation
};

/// Blocks of the tensor; scales as instance and group normalization have them.
Result<BlockNorm> blocksOf(const BlockNormStep& step, const Tensor& x)
{
    BlockNorm n;
    n.epsilon = step.epsilon;
    n.centred = centres(step.kind);
    if (step.kind == BlockKind::Instance || step.kind == BlockKind::Group) {
        if (x.rank() < 2)
            return badInput("the input " + shapeText(x.shape()) + " has no channel axis");
        const int64_t channels = x.dim(1), groups = step.kind == BlockKind::Group ? step.groups : channels;
        if (groups < 1 || channels % groups)
            return badInput(std::to_string(channels) + " channels cannot form " + std::to_string(groups) + " groups");
        n.blocks = x.dim(0) * groups;
        n.size = n.blocks ? x.count() / n.blocks : 0;
        const int64_t planes = x.dim(0) * channels;
        n.run = step.perGroup ? n.size : planes ? x.count() / planes : 1;
        n.scales = step.perGroup ? groups : channels;
        n.run = std::max<int64_t>(n.run, 1);
        return n;
    }
    QS_TRY(const AxisShape s, axisShape(x, step.axis));
    n.blocks = s.outer;
    n.size = s.size * s.inner;
    n.scales = n.size;
    return n;
}

/// A parameter as W; for layer and RMS normalization spread over what its shape broadcasts to.
template <class W>
Result<Tensor> parameter(const StepContext& c, const Tensor* t, const Tensor& x, BlockNorm& n, bool spreads)
{
    if (!t)
        return Tensor();
    const Tensor work = asWork<W>(c, *t);
    if (work.count() == n.scales)
        return work;
    if (!spreads || broadcastShapes(t->shape(), x.shape()) != x.shape())
        return badInput(
            "parameters of shape " + shapeText(t->shape()) + " do not fit an input " + shapeText(x.shape()));
    const Shape operands[] { t->shape() };
    const BroadcastLoop loop = makeBroadcastLoop(operands, x.shape());
    Tensor out = c.allocate(dtypeOf<W>(), x.shape());
    forEachRun(loop, [&](std::span<const size_t> offsets, size_t at) {
        for (size_t i = 0; i < loop.runLength(); ++i)
            out.fill<W>()[at + i] = work.data<W>()[offsets[0] + i * loop.innerStride(0)];
    });
    n.scales = x.count();
    return out;
}

/// Both parameters over as many indices.
template <class W> struct Parameters {
    Tensor scale;
    Tensor bias;
};

template <class W>
Result<Parameters<W>> parametersOf(
    const StepContext& c, const Tensor& x, const Tensor* scale, const Tensor* bias, BlockNorm& n, bool spreads)
{
    Parameters<W> p;
    QS_TRY(p.scale, parameter<W>(c, scale, x, n, spreads));
    const int64_t before = n.scales;
    QS_TRY(p.bias, parameter<W>(c, bias, x, n, spreads));
    if (n.scales != before && p.scale.valid()) {
        // The bias varies where the scale does not: spread the scale too.
        BlockNorm whole = n;
        whole.scales = -1;
        QS_TRY(p.scale, parameter<W>(c, scale, x, whole, spreads));
    } else if (p.bias.valid() && p.bias.count() != n.scales) {
        BlockNorm whole = n;
        whole.scales = -1;
        QS_TRY(p.bias, parameter<W>(c, bias, x, whole, spreads));
    }
    return p;
}

/// Sum of the inputs of the operators that skip: input + skip + bias of the last axis.
template <class W> Result<Tensor> skipSum(const StepContext& c, size_t biasSlot)
{
    const Tensor& x = c.in(0);
    if (!c.input(1) || c.in(1).count() == 0 || x.count() % c.in(1).count() || x.rank() == 0)
        return badInput("the skipped input does not fit the input " + shapeText(x.shape()));
    const Tensor in = asWork<W>(c, x), skip = asWork<W>(c, c.in(1));
    const Tensor bias = c.input(biasSlot) ? asWork<W>(c, *c.input(biasSlot)) : Tensor();
    const auto last = static_cast<size_t>(x.shape().back());
    if (bias.valid() && bias.count() != x.shape().back())
        return badInput("the bias does not fit the input " + shapeText(x.shape()));
    Tensor sum = c.allocate(dtypeOf<W>(), x.shape());
    const auto count = static_cast<size_t>(x.count()), period = static_cast<size_t>(skip.count());
    W* to = sum.fill<W>().data();
    for (size_t first = 0; first < count; first += period)
        std::transform(in.data<W>().data() + first, in.data<W>().data() + first + period, skip.data<W>().data(),
            to + first, std::plus());
    for (size_t first = 0; bias.valid() && first < count; first += last)
        std::transform(to + first, to + first + last, bias.data<W>().data(), to + first, std::plus());
    return sum;
}

/// Mean and inverse deviation of each block: outputs 1 and 2; the inverse alone is output 1 of
/// SimplifiedLayerNormalization.
template <class W>
void setStatistics(StepContext& c, const BlockNormStep& step, const Tensor& x, Tensor mean, Tensor inverse)
{
    const bool simplified = step.kind == BlockKind::Simplified;
    if (!simplified && step.kind != BlockKind::Layer && !skips(step.kind))
        return;
    Shape shape = x.shape();
    for (size_t d = normalizedAxis(step.axis, x.rank()).value_or(0); d < x.rank(); ++d)
        shape[d] = 1;
    const DType wide = x.dtype() == DType::Float64 ? DType::Float64 : DType::Float32;
    const DType type = step.kind == BlockKind::Layer ? step.statistics : wide;
    const size_t inverseSlot = simplified ? 1 : 2;
    if (c.outputCount() > 1 && !simplified)
        c.setOutput(1, fromWork<W>(c, mean.reshaped(shape), type));
    if (c.outputCount() > inverseSlot)
        c.setOutput(inverseSlot, fromWork<W>(c, inverse.reshaped(shape), type));
}

/// normalizeBlocks() on all threads, where scales and shifts begin anew with each block.
template <class W>
void normalizeParts(
    const StepContext& c, const BlockNorm& n, const W* x, const W* scale, const W* bias, W* y, W* mean, W* inverse)
{
    constexpr int64_t kElementCost = 8; // multiplications that take as long
    const auto period = n.run * n.scales; // 0 where there is no element
    const bool alike = period > 0 && n.size % period == 0;
    const RowParts parts(c, n.blocks, alike ? 1 : n.blocks, n.size * kElementCost);
    parts.run(c, [&](int64_t first, int64_t blocks, size_t) {
        BlockNorm part = n;
        part.blocks = blocks;
        normalizeBlocks<W>(part, x + first * n.size, scale, bias, y + first * n.size, mean ? mean + first : nullptr,
            inverse ? inverse + first : nullptr);
    });
}

template <class W> Status normalizeAs(const BlockNormStep& step, StepContext& c)
{
    const Tensor& x = c.in(0);
    const size_t first = skips(step.kind) ? 2 : 1; // slot of the scale
    const bool hasBias = step.kind != BlockKind::Simplified && step.kind != BlockKind::SkipSimplified;
    Tensor in = asWork<W>(c, x);
    if (skips(step.kind)) {
        QS_TRY(in, skipSum<W>(c, hasBias ? 4 : 3));
    }
    QS_TRY(BlockNorm n, blocksOf(step, x));
    const bool spreads = step.kind == BlockKind::Layer || step.kind == BlockKind::Rms;
    QS_TRY(const Parameters<W> p,
        parametersOf<W>(c, x, c.input(first), hasBias ? c.input(first + 1) : nullptr, n, spreads));
    Tensor y = c.allocate(dtypeOf<W>(), x.shape());
    Tensor mean = c.allocate(dtypeOf<W>(), { n.blocks }), inverse = c.allocate(dtypeOf<W>(), { n.blocks });
    bool done = n.size == 0;
    if constexpr (std::is_same_v<W, double>)
        if (!done && step.mode == KernelMode::Reference) {
            normalizeBlocksReference(n, in.data<double>().data(), dataOrNull<double>(p.scale),
                dataOrNull<double>(p.bias), y.fill<double>().data(), mean.fill<double>().data(),
                inverse.fill<double>().data());
            done = true;
        }
    if (!done)
        normalizeParts<W>(c, n, in.data<W>().data(), dataOrNull<W>(p.scale), dataOrNull<W>(p.bias), y.fill<W>().data(),
            mean.fill<W>().data(), inverse.fill<W>().data());
    c.setOutput(0, fromWork<W>(c, std::move(y), x.dtype()));
    setStatistics<W>(c, step, x, std::move(mean), std::move(inverse));
    if (skips(step.kind) && c.outputCount() > 3)
        c.setOutput(3, fromWork<W>(c, std::move(in), x.dtype()));
    return {};
}

template <BlockKind kKind> Result<LoweredNode> lowerBlockNorm(const LowerContext& context)
{
    QS_CHECK(needFloat(context.inputType(0)));
    const Attributes& a = context.node.attributes;
    const float usualEpsilon = skips(kKind) ? 1e-12f : 1e-5f;
    const BlockNormStep step { kKind, context.mode, double(a.real("epsilon", usualEpsilon)), a.integer("axis", -1),
        a.integer("num_groups", 1), kKind == BlockKind::Group && context.node.opset < 21,
        static_cast<DType>(a.integer("stash_type", int64_t(DType::Float32))) };
    if (kKind == BlockKind::Layer && !isComputedFloat(step.statistics))
        return badInput("its stash_type is no float type", {}, "export the model again");
    return LoweredNode { [step](StepContext& c) -> Status {
                            if (!c.input(0))
                                return badInput("the input is missing");
                            QS_CHECK(needFloat(c.in(0).dtype()));
                            return withFloatWork(
                                c.in(0).dtype(), step.mode, [&](auto w) { return normalizeAs<decltype(w)>(step, c); });
                        },
        context.mode == KernelMode::Fast ? "block normalization" : "reference" };
}

} // namespace

void lowerBlockNorms(LoweringRegistry& r)
{
    r.add("", "LayerNormalization", lowerBlockNorm<BlockKind::Layer>);
    r.add("", "RMSNormalization", lowerBlockNorm<BlockKind::Rms>);
    r.add("", "InstanceNormalization", lowerBlockNorm<BlockKind::Instance>);
    r.add("", "GroupNormalization", lowerBlockNorm<BlockKind::Group>);
    r.add("", "SimplifiedLayerNormalization", lowerBlockNorm<BlockKind::Simplified>);
    r.add(kMicrosoftDomain, "SkipLayerNormalization", lowerBlockNorm<BlockKind::SkipLayer>);
    r.add(kMicrosoftDomain, "SkipSimplifiedLayerNormalization", lowerBlockNorm<BlockKind::SkipSimplified>);
}

} // namespace qs
