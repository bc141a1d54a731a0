// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/common/float_work.h"

#include "core/engine/registry/registry.h"
#include "core/kernels/reduce/loss.h"
#include "core/tensor/convert.h"

#include <numeric>

namespace qs {

namespace {

enum class LossReduction { None, Sum, Mean };

struct LossStep {
    KernelMode mode;
    bool fromScores; ///< SoftmaxCrossEntropyLoss
    LossReduction reduction;
    std::optional<int64_t> ignored;
};

Status checkTargets(const LossStep& step, const StepContext& c, const std::vector<int64_t>& targets)
{
    const Tensor& x = c.in(0);
    Shape places = x.shape();
    if (places.size() < 2)
        return badInput("the input needs a class axis");
    places.erase(places.begin() + 1);
    if (c.in(1).shape() != places)
        return badInput(
            "targets of shape " + shapeText(c.in(1).shape()) + " do not fit an input of shape " + shapeText(x.shape()));
    for (int64_t t : targets)
        if (t != step.ignored && (t < 0 || t >= x.dim(1)))
            return badInput("target " + std::to_string(t) + " is outside " + std::to_string(x.dim(1)) + " classes");
    if (c.input(2) && (c.in(2).count() != x.dim(1) || !isComputedFloat(c.in(2).dtype())))
        return badInput("there must be one weight a class");
    return {};
}

template <class W> Tensor reduced(const LossStep& step, const StepContext& c, Tensor losses, const Tensor& weights)
{
    if (step.reduction == LossReduction::None)
        return losses;
    const auto sum = [](std::span<const W> values) { return std::accumulate(values.begin(), values.end(), 0.0); };
    const double total = sum(losses.data<W>());
    Tensor y = c.allocate(dtypeOf<W>(), {});
    y.fill<W>()[0] = W(step.reduction == LossReduction::Sum ? total : total / sum(weights.data<W>()));
    return y;
}

template <class W> void runTyped(const LossStep& step, StepContext& c, const std::vector<int64_t>& targets)
{
    const Tensor& x = c.in(0);
    AxisShape s { x.dim(0), x.dim(1), 1 };
    for (size_t d = 2; d < x.rank(); ++d)
        s.inner *= x.dim(d);
    Tensor logarithms = asWork<W>(c, x);
    if (step.fromScores) {
        Tensor y = c.allocate(dtypeOf<W>(), x.shape());
        softmax<W>(SoftmaxKind::LogSoftmax, s, logarithms.data<W>().data(), y.fill<W>().data());
        logarithms = y;
    }
    const Tensor classWeights = c.input(2) ? asWork<W>(c, c.in(2)) : Tensor();
    Tensor losses = c.allocate(dtypeOf<W>(), c.in(1).shape()), weights = c.allocate(dtypeOf<W>(), c.in(1).shape());
    likelihoodLosses<W>(s, logarithms.data<W>().data(), targets.data(), dataOrNull<W>(classWeights), step.ignored,
        losses.fill<W>().data(), weights.fill<W>().data());
    c.setOutput(0, fromWork<W>(c, reduced<W>(step, c, std::move(losses), weights), x.dtype()));
    if (c.outputCount() > 1)
        c.setOutput(1, fromWork<W>(c, std::move(logarithms), x.dtype()));
}

Status runLoss(const LossStep& step, StepContext& c)
{
    if (!isComputedFloat(c.in(0).dtype()) || !isInteger(c.in(1).dtype()))
        return unsupportedType(isComputedFloat(c.in(0).dtype()) ? c.in(1).dtype() : c.in(0).dtype());
    const auto targets = toInts(c.in(1));
    QS_CHECK(checkTargets(step, c, targets));
    withFloatWork(c.in(0).dtype(), step.mode, [&](auto work) { runTyped<decltype(work)>(step, c, targets); });
    return {};
}

Result<LoweredNode> lowerLoss(const LowerContext& context)
{
    QS_CHECK(needFloat(context.inputType(0)));
    const Attributes& a = context.node.attributes;
    const std::string reduction = a.text("reduction", "mean");
    LossStep step { context.mode, context.node.opType == "SoftmaxCrossEntropyLoss", LossReduction::Mean, {} };
    if (const auto* ignored = a.get<int64_t>("ignore_index"))
        step.ignored = *ignored;
    if (reduction != "mean")
        step.reduction = reduction == "sum" ? LossReduction::Sum : LossReduction::None;
    return LoweredNode { [step](StepContext& c) { return runLoss(step, c); },
        context.mode == KernelMode::Reference ? "reference" : "loss" };
}

} // namespace

void lowerLosses(LoweringRegistry& r)
{
    r.add("", "NegativeLogLikelihoodLoss", lowerLoss);
    r.add("", "SoftmaxCrossEntropyLoss", lowerLoss);
}

} // namespace qs
