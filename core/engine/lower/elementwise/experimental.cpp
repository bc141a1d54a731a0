// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/common/element_types.h"
#include "core/engine/lower/common/float_work.h"
#include "core/engine/lower/common/inner_op.h"
#include "core/engine/lower/common/numeric_inputs.h"
#include "core/engine/lower/elementwise/parts.h"

#include <algorithm>
#include <cmath>

/// Experimental operators of the standard's first years (core/ops/families/experimental_ops.cpp), as ONNX Runtime
/// computes them.
namespace qs {

namespace {

/// y = alpha x + beta, or a function of it.
struct FormulaStep {
    double alpha = 1, beta = 0;
    double (*formula)(double x, double alpha, double beta) noexcept;
};

double affine(double x, double alpha, double beta) noexcept { return alpha * x + beta; }
double scaledTanh(double x, double alpha, double beta) noexcept { return alpha * std::tanh(beta * x); }

/// alpha log(1 + e^(beta x)) without an overflow.
double parametricSoftplus(double x, double alpha, double beta) noexcept
{
    const double t = beta * x;
    return alpha * (std::max(t, 0.0) + std::log1p(std::exp(-std::abs(t))));
}

LoweredNode formulaNode(const FormulaStep& step, KernelMode mode)
{
    const auto run = [step](StepContext& s) -> Status {
        const Tensor& x = s.in(0);
        QS_CHECK(needFloat(x.dtype()));
        Tensor y = s.allocate(x.dtype(), x.shape(), x.layout());
        mapChunks<double>(x, y, [&](const double* in, double* out, size_t n) {
            for (size_t i = 0; i < n; ++i)
                out[i] = step.formula(in[i], step.alpha, step.beta);
        });
        s.setOutput(0, std::move(y));
        return {};
    };
    return { run, mode == KernelMode::Reference ? "reference" : "element-wise", LayoutRule::Any };
}

Result<LoweredNode> lowerFormula(const LowerContext& c)
{
    QS_CHECK(needFloat(c.inputType(0)));
    const Node& node = c.node;
    FormulaStep step { double(node.attributes.real("alpha", 1)), double(node.attributes.real("beta", 0)), affine };
    if (node.is("Scale"))
        step.alpha = double(node.attributes.real("scale", 1));
    if (node.is("ScaledTanh") || node.is("ParametricSoftplus")) {
        if (!node.attributes.has("alpha") || !node.attributes.has("beta"))
            return badInput("alpha and beta have no default, but one is missing", {}, "export the model again");
        step.formula = node.is("ScaledTanh") ? scaledTanh : parametricSoftplus;
    }
    return formulaNode(step, c.mode);
}

/// scale * x + what the channel has in `bias`.
Result<LoweredNode> lowerImageScaler(const LowerContext& c)
{
    QS_CHECK(needFloat(c.inputType(0)));
    const double scale = double(c.node.attributes.real("scale", 1));
    const std::vector<float> bias = c.node.attributes.reals("bias");
    const auto run = [scale, bias](StepContext& s) -> Status {
        const Tensor& x = s.in(0);
        QS_CHECK(needFloat(x.dtype()));
        if (x.rank() != 4 || x.dim(1) != static_cast<int64_t>(bias.size()))
            return badInput(
                std::to_string(bias.size()) + " biases do not fit an input of shape " + shapeText(x.shape()));
        const Tensor in = asWork<double>(s, x);
        Tensor y = s.allocate(DType::Float64, x.shape());
        const double* from = in.data<double>().data();
        double* to = y.fill<double>().data();
        const int64_t plane = x.dim(2) * x.dim(3);
        for (int64_t image = 0; image < x.dim(0) * x.dim(1); ++image) {
            const double added = double(bias[static_cast<size_t>(image % x.dim(1))]);
            for (int64_t i = 0; i < plane; ++i)
                *to++ = scale * *from++ + added;
        }
        s.setOutput(0, fromWork<double>(s, std::move(y), x.dtype()));
        return {};
    };
    return LoweredNode { run, c.mode == KernelMode::Reference ? "reference" : "element-wise" };
}

Tensor integerList(const std::vector<int64_t>& v) { return Tensor::of<int64_t>({ static_cast<int64_t>(v.size()) }, v); }

/// By Slice: border is left, top, right, bottom; scale, if there is one, height and width in place of right and bottom.
Result<LoweredNode> lowerCrop(const LowerContext& c)
{
    const std::vector<int64_t> border = c.node.attributes.integers("border"),
                               scale = c.node.attributes.integers("scale");
    if (border.size() != 4 || (!scale.empty() && scale.size() != 2))
        return badInput("border needs four numbers (left, top, right, bottom), scale two or none");
    const auto negative = [](int64_t v) { return v < 0; };
    if (std::ranges::any_of(border, negative) || std::ranges::any_of(scale, negative))
        return badInput("border and scale must not be negative");
    const InnerOp::Input list { DType::Int64, {}, true };
    QS_TRY(const InnerOp slice,
        InnerOp::make(innerNode("Slice"), { { c.inputType(0), {}, true }, list, list, list }, c.mode));
    const auto run = [=](StepContext& s) -> Status {
        const Tensor& x = s.in(0);
        if (x.rank() != 4)
            return badInput("the input must be batch x channels x height x width, not " + shapeText(x.shape()));
        const std::vector<int64_t> starts { border[1], border[0] };
        std::vector<int64_t> ends { x.dim(2) - border[3], x.dim(3) - border[2] };
        for (size_t i = 0; i < 2; ++i) {
            const int64_t left = x.dim(i + 2) - starts[i];
            if (left < 0 || (scale.empty() ? ends[i] < starts[i] : scale[i] > left))
                return badInput("the borders leave nothing of a picture of shape " + shapeText(x.shape()));
            ends[i] = scale.empty() ? ends[i] : starts[i] + scale[i];
        }
        const Tensor from = integerList(starts), to = integerList(ends), axes = integerList({ 2, 3 });
        QS_TRY(Tensor y, slice.run(s, { &x, &from, &to, &axes }));
        s.setOutput(0, std::move(y));
        return {};
    };
    return LoweredNode { run, slice.kernel() };
}

Result<LoweredNode> lowerDynamicSlice(const LowerContext& c)
{
    QS_TRY(const InnerOp slice,
        InnerOp::make(innerNode("Slice"),
            { InnerOp::of(c, 0), InnerOp::of(c, 1), InnerOp::of(c, 2), InnerOp::of(c, 3) }, c.mode));
    const auto run = [slice](StepContext& s) -> Status {
        QS_TRY(Tensor y, slice.run(s, { &s.in(0), &s.in(1), &s.in(2), s.input(3) }));
        s.setOutput(0, std::move(y));
        return {};
    };
    return LoweredNode { run, slice.kernel() };
}

} // namespace

void lowerExperimental(LoweringRegistry& r)
{
    for (const char* type : { "Affine", "Scale", "ScaledTanh", "ParametricSoftplus" })
        r.add("", type, lowerFormula);
    r.add("", "ImageScaler", lowerImageScaler);
    r.add("", "Crop", lowerCrop);
    r.add("", "DynamicSlice", lowerDynamicSlice);
}

} // namespace qs
