// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/common/float_work.h"
#include "core/engine/lower/norm/parts.h"
#include "core/engine/registry/registry.h"

#include "core/kernels/reduce/reduce.h"
#include "core/tensor/convert.h"

#include <cmath>

namespace qs {

namespace {

struct BatchNormStep {
    KernelMode mode;
    double epsilon;
    double momentum;
    bool perElement; ///< opset < 9, spatial = 0: parameters for each element of a sample
    bool training;
    std::vector<float> scale; ///< constant parameters folded to x * scale + shift; empty otherwise
    std::vector<float> shift;
};

/// Folds the four parameters; computed in double, rounded once.
void foldParameters(
    const std::vector<double> (&p)[4], double epsilon, std::vector<float>& scale, std::vector<float>& shift)
{
    for (size_t c = 0; c < p[0].size(); ++c) {
        const double factor = p[0][c] / std::sqrt(p[3][c] + epsilon);
        scale.push_back(float(factor));
        shift.push_back(float(p[1][c] - p[2][c] * factor));
    }
}

/// Channels in the middle for this layout.
AxisShape channelShape(const BatchNormStep& step, const Tensor& x)
{
    AxisShape s { x.dim(0), x.rank() > 1 ? x.dim(1) : 1, 1 };
    for (size_t d = 2; d < x.rank(); ++d)
        s.inner *= x.dim(d);
    if (step.perElement)
        return { s.outer, s.size * s.inner, 1 };
    if (x.layout() == Layout::ChannelsLast)
        return { s.outer * s.inner, s.size, 1 };
    return s;
}

/// Statistics of the batch replace the given ones; outputs 1 and 2 are the running ones.
void trainStatistics(const BatchNormStep& step, StepContext& c, const Tensor& x, std::vector<double> (&p)[4])
{
    std::vector<bool> reduced(x.rank(), true);
    reduced[1] = false;
    std::vector<double> mean(p[2].size()), variance(p[3].size());
    reduceReference(ReduceKind::Mean, x.shape(), reduced, x.data<double>(), mean);
    Tensor centred = c.allocate(DType::Float64, x.shape());
    std::vector<double> ones(mean.size(), 1), shift(mean.size());
    for (size_t i = 0; i < mean.size(); ++i)
        shift[i] = -mean[i];
    scaleAndShift<double>(
        channelShape(step, x), x.data<double>().data(), ones.data(), shift.data(), centred.fill<double>().data());
    reduceReference(ReduceKind::SumSquare, x.shape(), reduced, centred.data<double>(), variance);
    const double count = double(x.count()) / double(mean.size());
    for (double& v : variance)
        v /= count;
    const std::vector<double>* current[] { &mean, &variance };
    for (size_t k = 0; k < 2; ++k) {
        Tensor running = c.allocate(DType::Float64, { static_cast<int64_t>(mean.size()) });
        for (size_t i = 0; i < mean.size(); ++i)
            running.fill<double>()[i] = p[2 + k][i] * step.momentum + (*current[k])[i] * (1 - step.momentum);
        if (c.outputCount() > k + 1)
            c.setOutput(k + 1, fromWork<double>(c, std::move(running), c.in(3 + k).dtype()));
        p[2 + k] = *current[k];
    }
}

void runInDouble(const BatchNormStep& step, StepContext& c, std::vector<double> (&p)[4])
{
    const Tensor x = asWork<double>(c, step.training ? inLayout(c, c.in(0), Layout::Plain) : c.in(0));
    if (step.training)
        trainStatistics(step, c, x, p);
    Tensor y = c.allocate(DType::Float64, x.shape(), x.layout());
    batchNormReference(channelShape(step, x), step.epsilon, x.data<double>().data(), p[0].data(), p[1].data(),
        p[2].data(), p[3].data(), y.fill<double>().data());
    c.setOutput(0, fromWork<double>(c, std::move(y), c.in(0).dtype()));
}

Status runBatchNorm(const BatchNormStep& step, StepContext& c)
{
    for (size_t i = 0; i < 5; ++i)
        if (!c.input(i))
            return badInput("one of the five inputs is missing");
    QS_CHECK(needFloat(c.in(0).dtype()));
    if (c.in(0).rank() < (step.training ? 2 : 1))
        return badInput("an input of shape " + shapeText(c.in(0).shape()) + " has no channels");
    const bool plainNeeded = step.perElement && c.in(0).layout() != Layout::Plain;
    const Tensor x = plainNeeded ? inLayout(c, c.in(0), Layout::Plain) : c.in(0);
    const AxisShape s = channelShape(step, x);
    for (size_t i = 1; i < 5; ++i)
        if (c.in(i).count() != s.size)
            return badInput(
                std::to_string(c.in(i).count()) + " parameters do not fit an input " + shapeText(x.shape()));
    const bool exact = step.mode == KernelMode::Reference || step.training || x.dtype() == DType::Float64;
    std::vector<double> p[4];
    if (exact || step.scale.empty())
        for (size_t i = 0; i < 4; ++i)
            p[i] = toDoubles(c.in(i + 1));
    if (exact) {
        runInDouble(step, c, p);
        return {};
    }
    std::vector<float> scale, shift;
    if (step.scale.empty())
        foldParameters(p, step.epsilon, scale, shift);
    const Tensor in = asWork<float>(c, x);
    Tensor y = c.allocate(DType::Float32, x.shape(), x.layout());
    scaleAndShift<float>(s, in.data<float>().data(), step.scale.empty() ? scale.data() : step.scale.data(),
        step.scale.empty() ? shift.data() : step.shift.data(), y.fill<float>().data());
    c.setOutput(0, fromWork<float>(c, std::move(y), x.dtype()));
    return {};
}

Result<LoweredNode> lowerBatchNormalization(const LowerContext& context)
{
    QS_CHECK(needFloat(context.inputType(0)));
    const Attributes& a = context.node.attributes;
    auto step = std::make_shared<BatchNormStep>();
    step->mode = context.mode;
    step->epsilon = double(a.real("epsilon", 1e-5f));
    step->momentum = double(a.real("momentum", 0.9f));
    step->training = a.integer("training_mode", 0) != 0;
    const int opset = context.node.opset;
    step->perElement = opset > 0 && opset < 9 && a.integer("spatial", 1) == 0;
    if (!step->training && context.node.outputs.size() > 1)
        return badInput("outputs of training are asked for without training_mode");
    bool constant = true;
    for (size_t i = 1; i < 5; ++i)
        constant = constant && context.constant(i);
    if (constant) {
        std::vector<double> p[4];
        for (size_t i = 0; i < 4; ++i)
            p[i] = toDoubles(*context.constant(i + 1));
        for (size_t i = 1; i < 4; ++i)
            if (p[i].size() != p[0].size())
                return badInput("scale, bias, mean and variance differ in size");
        foldParameters(p, step->epsilon, step->scale, step->shift);
    }
    return LoweredNode { [step](StepContext& c) { return runBatchNorm(*step, c); },
        context.mode == KernelMode::Fast ? "scale and shift" : "reference", LayoutRule::Any };
}

} // namespace

void lowerBatchNorm(LoweringRegistry& r) { r.add("", "BatchNormalization", lowerBatchNormalization); }

} // namespace qs
