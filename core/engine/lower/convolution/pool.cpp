// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/common/float_work.h"
#include "core/engine/lower/common/window_shape.h"
#include "core/engine/registry/registry.h"

#include "core/kernels/window/pool.h"

namespace qs {

namespace {

struct PoolStep {
    Node node;
    WindowAttributes attributes;
    PoolParams params;
    KernelMode mode;
    bool global = false;
    IndexOrder order = IndexOrder::RowMajor;
};

Result<WindowShape> poolShape(const PoolStep& step, const Tensor& x)
{
    if (step.global) {
        if (x.rank() < 2)
            return badInput("the input " + shapeText(x.shape()) + " has no channel axis");
        // All spatial axes as one window over one axis.
        WindowShape s;
        s.batch = x.dim(0);
        s.channels = x.dim(1);
        int64_t spatial = 1;
        for (size_t i = 2; i < x.rank(); ++i)
            spatial *= x.dim(i);
        s.axes[2].in = s.axes[2].kernel = spatial;
        return s;
    }
    if (x.rank() < 3 || x.rank() != step.attributes.kernel.size() + 2)
        return badInput("an input " + shapeText(x.shape()) + " does not fit a kernel of "
            + std::to_string(step.attributes.kernel.size()) + " sizes");
    return windowShape(step.node, step.attributes, WindowKind::Pool, x.shape(), step.attributes.kernel);
}

Shape poolOutput(const PoolStep& step, const WindowShape& s, const Tensor& x)
{
    if (!step.global)
        return windowOutput(s, s.channels);
    Shape out(x.rank(), 1);
    out[0] = s.batch;
    out[1] = s.channels;
    return out;
}

template <class W> void poolAs(const PoolStep& step, const WindowShape& s, const Tensor& x, Tensor& y)
{
    const bool last = x.layout() == Layout::ChannelsLast;
    const int64_t outer = last ? s.batch : s.batch * s.channels, inner = last ? s.channels : 1;
    if (step.params.kind == PoolKind::Max)
        return maxPool(s, outer, inner, x.data<W>().data(), y.fill<W>().data());
    PoolParams params = step.params;
    params.order = step.global ? SumOrder::FourLanes : averageOrder(s);
    if constexpr (std::is_same_v<W, float>)
        sumPool(s, params, outer, inner, x.data<float>().data(), y.fill<float>().data());
}

/// Max of codes, and everything of floats: same layout in and out.
template <class W> void runFast(const PoolStep& step, const WindowShape& s, StepContext& c)
{
    const Tensor x = asWork<W>(c, c.in(0));
    Tensor y = c.allocate(dtypeOf<W>(), poolOutput(step, s, x), x.layout());
    poolAs<W>(step, s, x, y);
    c.setOutput(0, fromWork<W>(c, std::move(y), c.in(0).dtype()));
}

void runReference(const PoolStep& step, const WindowShape& s, StepContext& c)
{
    const Tensor x = asWork<double>(c, inLayout(c, c.in(0), Layout::Plain));
    Tensor y = c.allocate(DType::Float64, poolOutput(step, s, x));
    poolReference(s, step.params, x.data<double>().data(), y.fill<double>().data());
    c.setOutput(0, fromWork<double>(c, std::move(y), c.in(0).dtype()));
}

template <class W> void runWithIndices(const PoolStep& step, const WindowShape& s, StepContext& c)
{
    const Tensor x = asWork<W>(c, inLayout(c, c.in(0), Layout::Plain));
    Tensor y = c.allocate(dtypeOf<W>(), poolOutput(step, s, x));
    Tensor indices = c.allocate(DType::Int64, y.shape());
    maxPoolIndices(s, step.order, x.data<W>().data(), y.fill<W>().data(), indices.fill<int64_t>().data());
    c.setOutput(0, fromWork<W>(c, std::move(y), c.in(0).dtype()));
    c.setOutput(1, std::move(indices));
}

template <class W> void runMax(const PoolStep& step, const WindowShape& s, StepContext& c, bool indices)
{
    if (indices)
        return runWithIndices<W>(step, s, c);
    runFast<W>(step, s, c);
}

Status runPool(const PoolStep& step, StepContext& c)
{
    if (!c.input(0))
        return badInput("the input is missing");
    const DType type = c.in(0).dtype();
    const bool max = step.params.kind == PoolKind::Max;
    const bool codes = type == DType::Int8 || type == DType::UInt8;
    if (!isComputedFloat(type) && !(max && codes))
        return unsupportedType(type);
    QS_TRY(const WindowShape s, poolShape(step, c.in(0)));
    const bool indices = max && step.node.outputs.size() > 1 && step.node.outputs[1].valid();
    const bool exact = step.mode == KernelMode::Reference || (type == DType::Float64 && !max);
    if (exact && !indices)
        runReference(step, s, c);
    else if (type == DType::Int8)
        runMax<int8_t>(step, s, c, indices);
    else if (type == DType::UInt8)
        runMax<uint8_t>(step, s, c, indices);
    else if (type == DType::Float64)
        runMax<double>(step, s, c, indices);
    else
        runMax<float>(step, s, c, indices);
    return {};
}

/// The order of LpPool: a float in opset 1.
double poolOrder(const Node& node)
{
    if (const auto* p = node.attributes.get<float>("p"))
        return double(*p);
    return double(node.attributes.integer("p", 2));
}

AverageDivisor divisorOf(const Node& node)
{
    return node.attributes.integer("count_include_pad", 0) ? AverageDivisor::Padded : AverageDivisor::InsideOnly;
}

template <PoolKind kKind, bool kGlobal> Result<LoweredNode> lowerPool(const LowerContext& context)
{
    const DType type = context.inputType(0);
    if (kKind != PoolKind::Max || (type != DType::Int8 && type != DType::UInt8))
        QS_CHECK(needFloat(type));
    auto step = std::make_shared<PoolStep>();
    step->node = context.node;
    step->mode = context.mode;
    step->global = kGlobal;
    step->params = { kKind, divisorOf(context.node), poolOrder(context.node) };
    step->order = context.node.attributes.integer("storage_order", 0) ? IndexOrder::ColumnMajor : IndexOrder::RowMajor;
    if (!kGlobal) {
        QS_TRY(step->attributes, windowAttributes(context.node));
        if (step->attributes.kernel.empty())
            return badInput("the attribute kernel_shape is missing");
    }
    return LoweredNode { [step](StepContext& c) { return runPool(*step, c); },
        context.mode == KernelMode::Fast ? "pool" : "reference", LayoutRule::Any };
}

} // namespace

void lowerPools(LoweringRegistry& r)
{
    r.add("", "MaxPool", lowerPool<PoolKind::Max, false>);
    r.add("", "AveragePool", lowerPool<PoolKind::Average, false>);
    r.add("", "LpPool", lowerPool<PoolKind::Lp, false>);
    r.add("", "GlobalMaxPool", lowerPool<PoolKind::Max, true>);
    r.add("", "GlobalAveragePool", lowerPool<PoolKind::Average, true>);
    r.add("", "GlobalLpPool", lowerPool<PoolKind::Lp, true>);
}

} // namespace qs
