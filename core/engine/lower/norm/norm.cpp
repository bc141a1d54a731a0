// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/common/float_work.h"
#include "core/engine/lower/common/row_parts.h"
#include "core/engine/lower/norm/parts.h"
#include "core/engine/registry/registry.h"

#include "core/kernels/reduce/reduce.h"

#include <algorithm>

namespace qs {

namespace {

constexpr int64_t kExponentialCost = 16; ///< multiplications that take as long

/// What the normalizations along one axis or over given axes need.
struct NormStep {
    std::string type;
    KernelMode mode;
    int64_t axis = -1;
    bool flattens = false; ///< Softmax and the like before opset 13: everything from the axis on is one axis
    int64_t order = 2; ///< LpNormalization
    LocalResponse response;
    std::vector<int64_t> axes; ///< MeanVarianceNormalization; those that an input does not have count for nothing
    bool byDeviation = true; ///< MeanVarianceNormalization: false: the mean is taken away, and that is all
};

Result<AxisShape> softmaxShape(const NormStep& step, const Tensor& x)
{
    if (!step.flattens)
        return axisShape(x, step.axis);
    const auto rank = static_cast<int64_t>(x.rank());
    const int64_t axis = step.axis < 0 ? step.axis + rank : step.axis;
    if (axis < 0 || axis > rank)
        return badInput(
            "axis " + std::to_string(step.axis) + " does not exist in an input of rank " + std::to_string(rank));
    AxisShape s;
    for (int64_t d = 0; d < rank; ++d)
        (d < axis ? s.outer : s.size) *= x.dim(size_t(d));
    return s;
}

/// On all threads; each row is a softmax of its own.
template <class W> void softmaxRows(SoftmaxKind kind, const AxisShape& s, const W* x, W* y, const StepContext& c)
{
    const int64_t row = s.size * s.inner;
    const RowParts parts(c, s.outer, 1, row * kExponentialCost);
    parts.run(c, [&](int64_t first, int64_t rows, size_t) {
        softmax<W>(kind, { rows, s.size, s.inner }, x + first * row, y + first * row);
    });
}

Status runSoftmax(const NormStep& step, SoftmaxKind kind, StepContext& c)
{
    const Tensor& x = c.in(0);
    QS_TRY(const AxisShape s, softmaxShape(step, x));
    withFloatWork(x.dtype(), step.mode, [&](auto w) {
        using W = decltype(w);
        const Tensor in = asWork<W>(c, x);
        Tensor y = c.allocate(dtypeOf<W>(), x.shape());
        bool done = false;
        if constexpr (std::is_same_v<W, double>)
            if (step.mode == KernelMode::Reference) {
                softmaxReference(kind, s, in.data<double>().data(), y.fill<double>().data());
                done = true;
            }
        if (!done)
            softmaxRows<W>(kind, s, in.data<W>().data(), y.fill<W>().data(), c);
        c.setOutput(0, fromWork<W>(c, std::move(y), x.dtype()));
    });
    return {};
}

/// LRN, LpNormalization, MeanVarianceNormalization.
Status runAlongAxis(const NormStep& step, StepContext& c)
{
    const Tensor& x = c.in(0);
    LocalResponse response = step.response;
    const bool isResponse = step.type == "LRN", isLp = step.type == "LpNormalization";
    std::vector<bool> reduced(x.rank(), false);
    AxisShape s;
    if (isResponse || isLp) {
        QS_TRY(s, axisShape(x, isResponse ? 1 : step.axis));
        response.shape = s;
    } else {
        for (int64_t axis : step.axes) {
            if (const auto a = normalizedAxis(axis, x.rank()))
                reduced[*a] = true;
        }
        if (std::ranges::find(reduced, true) == reduced.end())
            return badInput("none of its axes exists in an input of rank " + std::to_string(x.rank()));
    }
    withFloatWork(x.dtype(), step.mode, [&](auto w) {
        using W = decltype(w);
        const Tensor in = asWork<W>(c, x);
        Tensor y = c.allocate(dtypeOf<W>(), x.shape());
        const W* from = in.data<W>().data();
        W* to = y.fill<W>().data();
        if (isResponse)
            localResponse<W>(response, from, to);
        else if (isLp)
            lpNormalize<W>(int(step.order), s, from, to);
        else
            meanVarianceNormalize<W>(makeReducePlan(x.shape(), reduced), from, to, step.byDeviation);
        c.setOutput(0, fromWork<W>(c, std::move(y), x.dtype()));
    });
    return {};
}

LoweredNode lowered(const LowerContext& context, std::string kernel, StepFn run)
{
    return { [run = std::move(run)](StepContext& c) -> Status {
                if (!c.input(0))
                    return badInput("the input is missing");
                QS_CHECK(needFloat(c.in(0).dtype()));
                return run(c);
            },
        context.mode == KernelMode::Fast ? std::move(kernel) : "reference" };
}

NormStep normStep(const LowerContext& context)
{
    const Attributes& a = context.node.attributes;
    NormStep step { context.node.opType, context.mode };
    step.order = a.integer("p", 2);
    step.axes = a.integers("axes", { 0, 2, 3 });
    if (step.type == "MeanVarianceNormalization" && context.node.opset > 0 && context.node.opset < 9) {
        step.axes = { 0, 2, 3 }; // its first form, experimental, says axes in another way
        if (a.integer("across_channels", 0))
            step.axes.push_back(1);
        step.byDeviation = a.integer("normalize_variance", 1) != 0;
    }
    step.axis = a.integer("axis", -1);
    step.response.size = a.integer("size", 1);
    step.response.alpha = double(a.real("alpha", 1e-4f));
    step.response.beta = double(a.real("beta", 0.75f));
    step.response.bias = double(a.real("bias", 1.0f));
    return step;
}

template <SoftmaxKind kKind> Result<LoweredNode> lowerSoftmax(const LowerContext& context)
{
    QS_CHECK(needFloat(context.inputType(0)));
    NormStep step = normStep(context);
    step.flattens = context.node.opset > 0 && context.node.opset < 13;
    step.axis = context.node.attributes.integer("axis", step.flattens ? 1 : -1);
    return lowered(context, "softmax", [step](StepContext& c) { return runSoftmax(step, kKind, c); });
}

Result<LoweredNode> lowerAlongAxis(const LowerContext& context)
{
    QS_CHECK(needFloat(context.inputType(0)));
    const NormStep step = normStep(context);
    if (step.type == "LRN" && step.response.size < 1)
        return badInput("size is " + std::to_string(step.response.size));
    if (step.type == "LpNormalization" && step.order != 1 && step.order != 2)
        return badInput("p is " + std::to_string(step.order) + " where only 1 and 2 are defined");
    return lowered(context, "normalize", [step](StepContext& c) { return runAlongAxis(step, c); });
}

} // namespace

void lowerNorm(LoweringRegistry& r)
{
    r.add("", "Softmax", lowerSoftmax<SoftmaxKind::Softmax>);
    r.add("", "LogSoftmax", lowerSoftmax<SoftmaxKind::LogSoftmax>);
    r.add("", "Hardmax", lowerSoftmax<SoftmaxKind::Hardmax>);
    r.add("", "LRN", lowerAlongAxis);
    r.add("", "LpNormalization", lowerAlongAxis);
    r.add("", "MeanVarianceNormalization", lowerAlongAxis);
    lowerBatchNorm(r);
    lowerBlockNorms(r);
}

} // namespace qs
