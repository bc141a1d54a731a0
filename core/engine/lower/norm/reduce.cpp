// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/common/float_work.h"

#include "core/engine/registry/registry.h"
#include "core/kernels/reduce/reduce.h"
#include "core/tensor/convert.h"

#include <optional>

namespace qs {

namespace {

/// Calls fn(T {}) with the element type, float32 for the 16-bit floats, uint8 for Bool; false for other types.
template <class Fn> bool withElementType(DType type, Fn fn)
{
    switch (type) {
    case DType::Float32:
    case DType::Float16:
    case DType::BFloat16:
        fn(float {});
        return true;
    case DType::Float64:
        fn(double {});
        return true;
    case DType::Int8:
        fn(int8_t {});
        return true;
    case DType::Int16:
        fn(int16_t {});
        return true;
    case DType::Int32:
        fn(int32_t {});
        return true;
    case DType::Int64:
        fn(int64_t {});
        return true;
    case DType::Bool:
    case DType::UInt8:
        fn(uint8_t {});
        return true;
    case DType::UInt16:
        fn(uint16_t {});
        return true;
    case DType::UInt32:
        fn(uint32_t {});
        return true;
    case DType::UInt64:
        fn(uint64_t {});
        return true;
    default:
        return false;
    }
}

Status needNumbers(DType type)
{
    if (type == DType::Undefined || withElementType(type, [](auto) {}))
        return {};
    return unsupportedType(type);
}

struct ReduceStep {
    ReduceKind kind;
    KernelMode mode;
    bool keep;
    bool noopWhenEmpty;
    std::optional<std::vector<int64_t>> axes; ///< attribute
};

Result<std::vector<bool>> reducedAxes(const ReduceStep& step, const StepContext& c)
{
    const size_t rank = c.in(0).rank();
    std::vector<int64_t> axes = step.axes.value_or(std::vector<int64_t> {});
    if (const Tensor* t = c.input(1); t && !step.axes)
        axes = toInts(*t);
    if (axes.empty())
        return std::vector<bool>(rank, !step.noopWhenEmpty);
    std::vector<bool> reduced(rank, false);
    for (int64_t axis : axes) {
        const auto a = normalizedAxis(axis, rank);
        if (!a)
            return badInput(
                "axis " + std::to_string(axis) + " does not exist in an input of rank " + std::to_string(rank));
        reduced[*a] = true;
    }
    return reduced;
}

Shape reducedShape(const Shape& shape, const std::vector<bool>& reduced, bool keep)
{
    Shape out;
    for (size_t d = 0; d < shape.size(); ++d)
        if (!reduced[d] || keep)
            out.push_back(reduced[d] ? 1 : shape[d]);
    return out;
}

void runReduceReference(
    const ReduceStep& step, StepContext& c, const Tensor& x, const std::vector<bool>& reduced, const Shape& shape)
{
    const Tensor wide = asWork<double>(c, x);
    Tensor y = c.allocate(DType::Float64, shape);
    reduceReference(step.kind, x.shape(), reduced, wide.data<double>(), y.fill<double>());
    c.setOutput(0, fromWork<double>(c, std::move(y), x.dtype()));
}

Status runReduce(const ReduceStep& step, StepContext& c)
{
    if (!c.input(0))
        return badInput("the input is missing");
    const Tensor& x = c.in(0);
    QS_CHECK(needNumbers(x.dtype()));
    QS_TRY(const std::vector<bool> reduced, reducedAxes(step, c));
    const Shape shape = reducedShape(x.shape(), reduced, step.keep);
    if (step.mode == KernelMode::Reference && isFloat(x.dtype())) {
        runReduceReference(step, c, x, reduced, shape);
        return {};
    }
    const ReducePlan plan = makeReducePlan(x.shape(), reduced);
    withElementType(x.dtype(), [&](auto element) {
        using T = decltype(element);
        const bool bits = x.dtype() == DType::Bool;
        const Tensor work = bits ? x : asWork<T>(c, x);
        Tensor y = c.allocate(bits ? DType::Bool : dtypeOf<T>(), shape);
        reduce<T>(step.kind, plan, work.data<T>().data(), y.fill<T>().data());
        c.setOutput(0, bits ? std::move(y) : fromWork<T>(c, std::move(y), x.dtype()));
    });
    return {};
}

template <ReduceKind kKind> Result<LoweredNode> lowerReduction(const LowerContext& context)
{
    QS_CHECK(needNumbers(context.inputType(0)));
    const Attributes& a = context.node.attributes;
    ReduceStep step { kKind, context.mode, a.integer("keepdims", 1) != 0, a.integer("noop_with_empty_axes", 0) != 0,
        {} };
    if (a.has("axes"))
        step.axes = a.integers("axes");
    return LoweredNode { [step](StepContext& c) { return runReduce(step, c); },
        context.mode == KernelMode::Fast ? "reduce" : "reference" };
}

struct ArgStep {
    ArgKind kind;
    ArgTie tie;
    int64_t axis;
    bool keep;
};

Status runArg(const ArgStep& step, StepContext& c)
{
    if (!c.input(0))
        return badInput("the input is missing");
    const Tensor& x = c.in(0);
    QS_CHECK(needNumbers(x.dtype()));
    QS_TRY(const AxisShape s, axisShape(x, step.axis));
    if (s.size == 0)
        return badInput("an axis of size 0 has no largest or smallest element");
    std::vector<bool> reduced(x.rank(), false);
    reduced[normalizedAxis(step.axis, x.rank()).value_or(0)] = true;
    Tensor y = c.allocate(DType::Int64, reducedShape(x.shape(), reduced, step.keep));
    withElementType(x.dtype(), [&](auto element) {
        using T = decltype(element);
        const Tensor work = x.dtype() == DType::Bool ? x : asWork<T>(c, x);
        argReduce<T>(step.kind, step.tie, s, work.data<T>().data(), y.fill<int64_t>().data());
    });
    c.setOutput(0, std::move(y));
    return {};
}

template <ArgKind kKind> Result<LoweredNode> lowerArg(const LowerContext& context)
{
    QS_CHECK(needNumbers(context.inputType(0)));
    const Attributes& a = context.node.attributes;
    const ArgStep step { kKind, a.integer("select_last_index", 0) ? ArgTie::Last : ArgTie::First, a.integer("axis", 0),
        a.integer("keepdims", 1) != 0 };
    return LoweredNode { [step](StepContext& c) { return runArg(step, c); }, "arg reduce" };
}

/// float32, float64, int32, int64, uint32, uint64; other floats through float32.
template <class Fn> bool withSumType(DType type, Fn fn)
{
    return withElementType(type, [&](auto element) {
        if constexpr (sizeof(element) >= 4)
            fn(element);
    });
}

Status runCumSum(const CumSumParams& params, StepContext& c)
{
    if (!c.input(0) || !c.input(1) || c.in(1).count() != 1)
        return badInput("the input or its axis is missing");
    const Tensor& x = c.in(0);
    if (!isComputedFloat(x.dtype()) && dtypeBits(x.dtype()) < 32)
        return unsupportedType(x.dtype());
    QS_TRY(const AxisShape s, axisShape(x, elementAsInt(c.in(1), 0)));
    withSumType(x.dtype(), [&](auto element) {
        using T = decltype(element);
        const Tensor work = asWork<T>(c, x);
        Tensor y = c.allocate(dtypeOf<T>(), x.shape());
        cumSum<T>(params, s, work.data<T>().data(), y.fill<T>().data());
        c.setOutput(0, fromWork<T>(c, std::move(y), x.dtype()));
    });
    return {};
}

Result<LoweredNode> lowerCumSum(const LowerContext& context)
{
    QS_CHECK(needNumbers(context.inputType(0)));
    const Attributes& a = context.node.attributes;
    const CumSumParams params { a.integer("exclusive", 0) != 0, a.integer("reverse", 0) != 0,
        context.node.opType == "CumProd" };
    return LoweredNode { [params](StepContext& c) { return runCumSum(params, c); },
        params.product ? "cumulative product" : "cumulative sum" };
}

} // namespace

void lowerReduce(LoweringRegistry& r)
{
    r.add("", "ReduceSum", lowerReduction<ReduceKind::Sum>);
    r.add("", "ReduceMean", lowerReduction<ReduceKind::Mean>);
    r.add("", "ReduceMax", lowerReduction<ReduceKind::Max>);
    r.add("", "ReduceMin", lowerReduction<ReduceKind::Min>);
    r.add("", "ReduceProd", lowerReduction<ReduceKind::Prod>);
    r.add("", "ReduceL1", lowerReduction<ReduceKind::L1>);
    r.add("", "ReduceL2", lowerReduction<ReduceKind::L2>);
    r.add("", "ReduceLogSum", lowerReduction<ReduceKind::LogSum>);
    r.add("", "ReduceLogSumExp", lowerReduction<ReduceKind::LogSumExp>);
    r.add("", "ReduceSumSquare", lowerReduction<ReduceKind::SumSquare>);
    r.add("", "ArgMax", lowerArg<ArgKind::Max>);
    r.add("", "ArgMin", lowerArg<ArgKind::Min>);
    r.add("", "CumSum", lowerCumSum);
    r.add("", "CumProd", lowerCumSum);
}

} // namespace qs
