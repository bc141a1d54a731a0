// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/attention/parts.h"
#include "core/engine/lower/common/float_work.h"
#include "core/engine/lower/common/movement.h"
#include "core/engine/lower/common/numeric_inputs.h"
#include "core/graph/domains.h"

#include "core/kernels/movement/strided_copy.h"
#include "core/kernels/sequence/token_mixing.h"

#include <cmath>

/// Convolutions that see what came before, and hand on what the next call needs: CausalConvWithState.
namespace qs {

namespace {

struct ConvOptions {
    KernelMode mode = KernelMode::Fast;
    bool silu = false, channelsLast = false; ///< channelsLast: batch x tokens x channels (of any number of axes)
    int64_t dilation = 1;
};

/// Batch x rows x columns as batch x columns x rows.
Tensor turned(const StepContext& s, const Tensor& t, int64_t rows, int64_t columns)
{
    const int64_t batch = t.dim(0);
    Tensor out = s.allocate(t.dtype(), { batch, columns, rows });
    stridedCopy(t.bytes().data(), writable(out), dtypeBits(t.dtype()) / 8,
        { { batch, rows, columns }, { rows * columns, columns, 1 }, { rows * columns, 1, rows } });
    return out;
}

/// Elements of two tensors of rank 3 one after another along the last axis.
template <class W> Tensor afterPast(const StepContext& c, const Tensor& past, const Tensor& x, int64_t pastSize)
{
    const Shape shape { x.dim(0), x.dim(1), pastSize + x.dim(2) };
    Tensor out = c.allocate(dtypeOf<W>(), shape);
    const int64_t width = shape[2], length = x.dim(2);
    const Tensor before = past.valid() ? asWork<W>(c, past) : Tensor(), now = asWork<W>(c, x);
    for (int64_t r = 0; r < shape[0] * shape[1]; ++r) {
        W* row = out.fill<W>().data() + r * width;
        if (past.valid())
            std::copy_n(before.data<W>().data() + r * pastSize, pastSize, row);
        else
            std::fill_n(row, pastSize, W(0));
        std::copy_n(now.data<W>().data() + r * length, length, row + pastSize);
    }
    return out;
}

/// The last `count` elements of each line.
template <class W> Tensor lastOf(const StepContext& c, const Tensor& x, int64_t count)
{
    Tensor out = c.allocate(dtypeOf<W>(), { x.dim(0), x.dim(1), count });
    for (int64_t r = 0; r < x.dim(0) * x.dim(1); ++r)
        std::copy_n(x.data<W>().data() + (r + 1) * x.dim(2) - count, count, out.fill<W>().data() + r * count);
    return out;
}

/// Batch x channels x tokens of the input.
Result<CausalConvShape> shapeOf(const ConvOptions& o, const StepContext& c)
{
    const Tensor &x = c.in(0), &w = c.in(1);
    const bool ranked = (o.channelsLast ? x.rank() >= 3 : x.rank() == 3) && w.rank() == 3;
    CausalConvShape s;
    if (ranked) {
        s.batch = x.dim(0);
        s.channels = o.channelsLast ? product(x.shape(), 2, x.rank()) : x.dim(1);
        s.length = x.dim(o.channelsLast ? 1 : 2);
        s.taps = w.dim(2);
        s.dilation = o.dilation;
    }
    Shape state = x.shape();
    if (ranked)
        state[o.channelsLast ? 1 : 2] = s.past();
    if (!ranked || w.dim(0) != s.channels || w.dim(1) != 1 || s.taps < 1
        || (c.input(2) && c.in(2).count() != s.channels) || (c.input(3) && c.in(3).shape() != state))
        return badInput("an input of shape " + shapeText(x.shape()) + " does not fit its weight " + shapeText(w.shape())
            + ", bias or past_state");
    return s;
}

template <class W> void convolve(const ConvOptions& o, const CausalConvShape& s, StepContext& c)
{
    const Tensor &x = c.in(0), past = c.input(3) ? c.in(3) : Tensor();
    const auto channelsFirst = [&](const Tensor& t, int64_t rows) {
        return o.channelsLast && t.valid() ? turned(c, t, rows, s.channels) : t;
    };
    const Tensor padded = afterPast<W>(c, channelsFirst(past, s.past()), channelsFirst(x, s.length), s.past());
    const Tensor taps = asWork<W>(c, c.in(1)), bias = c.input(2) ? asWork<W>(c, c.in(2)) : Tensor();
    Tensor y = c.allocate(dtypeOf<W>(), { s.batch, s.channels, s.length });
    causalConv<W>(s, padded.data<W>().data(), taps.data<W>().data(), dataOrNull<W>(bias), y.fill<W>().data());
    if (o.silu)
        for (W& v : y.fill<W>())
            v = v / (1 + std::exp(-v));
    const auto asGiven = [&](Tensor t, int64_t tokens) {
        Shape shape = x.shape();
        shape[o.channelsLast ? 1 : 2] = tokens;
        if (o.channelsLast)
            t = turned(c, t, s.channels, tokens).reshaped(std::move(shape));
        return fromWork<W>(c, std::move(t), x.dtype());
    };
    c.setOutput(0, asGiven(std::move(y), s.length));
    if (c.outputCount() > 1)
        c.setOutput(1, asGiven(lastOf<W>(c, padded, s.past()), s.past()));
}

Status runCausalConv(const ConvOptions& options, StepContext& c)
{
    QS_CHECK(needInputs(c, 2));
    QS_CHECK(needNumericInputs(c));
    if (!isComputedFloat(c.in(0).dtype()))
        return unsupportedType(c.in(0).dtype());
    QS_TRY(const CausalConvShape s, shapeOf(options, c));
    withFloatWork(c.in(0).dtype(), options.mode, [&](auto work) { convolve<decltype(work)>(options, s, c); });
    return {};
}

Result<LoweredNode> lowerCausalConv(const LowerContext& context)
{
    QS_CHECK(needFloat(context.inputType(0)));
    const Attributes& a = context.node.attributes;
    const std::string activation = a.text("activation", "none");
    if (activation != "none" && activation != "silu" && activation != "swish")
        return badInput("the activation '" + activation + "' is unknown");
    const ConvOptions options { context.mode, activation != "none", a.integer("channels_last", 0) != 0,
        a.integer("dilation", 1) };
    if (options.dilation < 1)
        return badInput("dilation is " + std::to_string(options.dilation) + ", which must be 1 or more");
    return LoweredNode { [options](StepContext& c) { return runCausalConv(options, c); },
        context.mode == KernelMode::Reference ? "reference" : "causal convolution" };
}

/// Of com.microsoft, as ONNX Runtime's CPU has it: what only its GPUs compute is refused.
Result<LoweredNode> lowerMicrosoftCausalConv(const LowerContext& context)
{
    const Attributes& a = context.node.attributes;
    const std::pair<const char*, int64_t> fixed[] { { "ndim", 1 }, { "state_window", 0 },
        { "state_update_capacity", 0 }, { "state_channels_last", -1 }, { "state_length", 0 },
        { "input_channel_offset", 0 }, { "input_channels", 0 } };
    for (const auto& [name, usual] : fixed)
        if (const int64_t value = a.integer(name, usual); value != usual)
            return badInput(
                std::string(name) + " is " + std::to_string(value) + "; on CPUs it is always " + std::to_string(usual));
    return lowerCausalConv(context);
}

} // namespace

void lowerCausalConvs(LoweringRegistry& r)
{
    r.add("", "CausalConvWithState", lowerCausalConv);
    r.add(kMicrosoftDomain, "CausalConvWithState", lowerMicrosoftCausalConv);
}

} // namespace qs
