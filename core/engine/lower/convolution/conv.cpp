// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/common/at_first_run.h"
#include "core/engine/lower/common/float_work.h"
#include "core/engine/lower/common/prepared_conv.h"
#include "core/engine/lower/common/window_shape.h"
#include "core/engine/registry/registry.h"

#include "core/kernels/convolution/conv_reference.h"
#include "core/kernels/convolution/float_conv.h"
#include "core/kernels/convolution/row_conv.h"
#include "core/tensor/convert.h"

namespace qs {

namespace {

/// A lowered Conv or ConvTranspose.
struct ConvStep {
    Node node;
    WindowAttributes attributes;
    WindowKind kind;
    KernelMode mode;
    int64_t groups;
    /// Of constant weights and bias, as float32.
    struct Constant {
        Tensor weights, bias;
        std::unique_ptr<FloatConv> conv;
    };
    AtFirstRun<Constant> fast; ///< empty when weights or bias are computed

    ConvDirection direction() const
    {
        return kind == WindowKind::Conv ? ConvDirection::Forward : ConvDirection::Transposed;
    }
};

Result<ConvShape> convShape(const ConvStep& step, const StepContext& c)
{
    const Tensor &x = c.in(0), &w = c.in(1);
    if (!isComputedFloat(x.dtype()) || w.dtype() != x.dtype())
        return unsupportedType(isComputedFloat(x.dtype()) ? w.dtype() : x.dtype());
    if (x.rank() < 3 || w.rank() != x.rank())
        return badInput("weights " + shapeText(w.shape()) + " do not fit an input " + shapeText(x.shape()));
    ConvShape s;
    s.groups = step.groups;
    const bool transposed = step.kind == WindowKind::ConvTranspose;
    s.filters = transposed ? w.dim(1) * s.groups : w.dim(0);
    const int64_t channels = transposed ? w.dim(0) : w.dim(1) * s.groups;
    if (channels != x.dim(1) || channels % s.groups || s.filters % s.groups || channels == 0)
        return badInput("an input " + shapeText(x.shape()) + " does not fit weights " + shapeText(w.shape()) + " in "
            + std::to_string(s.groups) + " groups");
    if (const Tensor* b = c.input(2); b && b->count() != s.filters)
        return badInput(
            "the bias has " + std::to_string(b->count()) + " elements for " + std::to_string(s.filters) + " filters");
    QS_TRY(s.window, windowShape(step.node, step.attributes, step.kind, x.shape(), std::span(w.shape()).subspan(2)));
    return s;
}

Status runReference(const ConvStep& step, const ConvShape& s, StepContext& c)
{
    const Tensor x = asWork<double>(c, inLayout(c, c.in(0), Layout::Plain));
    const Tensor w = asWork<double>(c, inLayout(c, c.in(1), Layout::Plain));
    const Tensor b = c.input(2) ? asWork<double>(c, *c.input(2)) : Tensor();
    Tensor y = c.allocate(DType::Float64, windowOutput(s.window, s.filters));
    const auto run = step.kind == WindowKind::Conv ? convReference : convTransposeReference;
    run(s, x.data<double>().data(), w.data<double>().data(), dataOrNull<double>(b), y.fill<double>().data());
    c.setOutput(0, fromWork<double>(c, std::move(y), c.in(0).dtype()));
    return {};
}

Status runFast(const ConvStep& step, const ConvShape& s, StepContext& c, const EpilogueFn& epilogue)
{
    Tensor w, b;
    std::unique_ptr<FloatConv> own;
    if (!step.fast) {
        w = asWork<float>(c, inLayout(c, c.in(1), Layout::Plain));
        b = c.input(2) ? asWork<float>(c, *c.input(2)) : Tensor();
        own = std::make_unique<FloatConv>(step.direction(), w.data<float>().data(), dataOrNull<float>(b));
    }
    const auto prepared = (step.fast ? *step.fast->conv : *own).prepare(s);
    if (!prepared)
        return runReference(step, s, c);
    const Tensor x = inLayout(c, asWork<float>(c, c.in(0)), Layout::ChannelsLast);
    Tensor y = c.allocate(DType::Float32, windowOutput(s.window, s.filters), Layout::ChannelsLast);
    const bool finishes = c.in(0).dtype() == DType::Float32;
    QS_CHECK(runPrepared(c, *prepared, x.data<float>().data(), y, finishes ? epilogue : EpilogueFn()));
    c.setOutput(0, fromWork<float>(c, std::move(y), c.in(0).dtype()));
    return {};
}

Status runConvolution(const ConvStep& step, StepContext& c, const EpilogueFn& epilogue)
{
    if (!c.input(0) || !c.input(1))
        return badInput("the input or the weights are missing");
    QS_TRY(const ConvShape s, convShape(step, c));
    const Shape out = windowOutput(s.window, s.filters);
    if (elementCount(out).value_or(0) == 0) {
        c.setOutput(0, c.allocate(c.in(0).dtype(), out));
        return {};
    }
    const bool exact = step.mode == KernelMode::Reference || c.in(0).dtype() == DType::Float64 || c.in(0).count() == 0;
    return exact ? runReference(step, s, c) : runFast(step, s, c, epilogue);
}

std::string fastKernel(const ConvStep& step, const LowerContext& context)
{
    const Tensor* w = context.constant(1);
    if (step.direction() == ConvDirection::Transposed || !w || w->rank() < 3 || w->rank() > 5)
        return "onednn convolution";
    ConvShape s;
    s.groups = step.groups;
    s.filters = w->dim(0);
    s.window.channels = w->dim(1) * s.groups;
    s.window.spatialRank = static_cast<int>(w->rank()) - 2;
    return suitsRowConv(s) ? "row convolution" : "onednn convolution";
}

template <WindowKind kKind> Result<LoweredNode> lowerConvolution(const LowerContext& context)
{
    QS_CHECK(needFloat(context.inputType(0)));
    auto step = std::make_shared<ConvStep>();
    step->node = context.node;
    step->kind = kKind;
    step->mode = context.mode;
    step->groups = context.node.attributes.integer("group", 1);
    if (step->groups < 1 || step->groups > INT32_MAX)
        return badInput("group is " + std::to_string(step->groups));
    QS_TRY(step->attributes, windowAttributes(context.node));
    const Tensor *w = context.constant(1), *b = context.constant(2);
    const bool constant = w && (b || !context.node.hasInput(2));
    const DType type = context.inputType(0);
    if (context.mode == KernelMode::Fast && constant && isComputedFloat(w->dtype()) && type != DType::Float64) {
        step->fast = AtFirstRun<ConvStep::Constant>([direction = step->direction(), weights = *w,
                                                        bias = b ? *b : Tensor()] {
            ConvStep::Constant c { constantFloats(weights), bias.valid() ? constantFloats(bias) : Tensor(), nullptr };
            c.conv = std::make_unique<FloatConv>(direction, c.weights.data<float>().data(), dataOrNull<float>(c.bias));
            return c;
        });
    }
    const bool fast = context.mode == KernelMode::Fast && type != DType::Float64;
    LoweredNode lowered { [step](StepContext& c) { return runConvolution(*step, c, {}); },
        fast ? fastKernel(*step, context) : "reference", LayoutRule::Any };
    if (step->fast)
        lowered.runInPieces
            = [step](StepContext& c, const EpilogueFn& epilogue) { return runConvolution(*step, c, epilogue); };
    return lowered;
}

} // namespace

void lowerConv(LoweringRegistry& r)
{
    r.add("", "Conv", lowerConvolution<WindowKind::Conv>);
    r.add("", "ConvTranspose", lowerConvolution<WindowKind::ConvTranspose>);
}

} // namespace qs
