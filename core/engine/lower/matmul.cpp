// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/float_work.h"

#include "core/kernels/broadcast.h"
#include "core/kernels/matmul.h"
#include "core/tensor/convert.h"

namespace qs {

namespace {

/// A lowered MatMul or Gemm.
struct ProductStep {
    KernelMode mode;
    Tensor constantB; ///< as float32; invalid when B is computed
    std::unique_ptr<FloatMatmul> fast;
    bool transposeA = false; ///< Gemm
    bool transposeB = false;
    float alpha = 1;
    float beta = 1;

    explicit ProductStep(const LowerContext& context)
        : mode(context.mode)
    {
        const Tensor* b = context.constant(1);
        if (mode == KernelMode::Fast && b && isComputedFloat(b->dtype()) && b->dtype() != DType::Float64)
            constantB = constantFloats(*b);
        fast = std::make_unique<FloatMatmul>(dataOrNull<float>(constantB));
    }
};

/// How two operands of MatMul meet: one product, repeated over the batch axes.
struct BatchedProduct {
    ProductShape shape;
    Shape output;
    BroadcastLoop batches; ///< over the leading axes, in matrices
};

Result<BatchedProduct> batchedProduct(const Tensor& a, const Tensor& b)
{
    const Issue misfit
        = badInput("matrices " + shapeText(a.shape()) + " and " + shapeText(b.shape()) + " cannot be multiplied");
    if (a.rank() == 0 || b.rank() == 0)
        return misfit;
    Shape left = a.shape(), right = b.shape();
    const bool row = left.size() == 1, column = right.size() == 1;
    if (row)
        left.insert(left.begin(), 1);
    if (column)
        right.push_back(1);
    BatchedProduct p;
    p.shape = { left[left.size() - 2], left.back(), right.back() };
    if (right[right.size() - 2] != p.shape.inner)
        return misfit;
    const Shape batchA(left.begin(), left.end() - 2), batchB(right.begin(), right.end() - 2);
    const auto batch = broadcastShapes(batchA, batchB);
    if (!batch)
        return misfit;
    p.output = *batch;
    if (!row)
        p.output.push_back(p.shape.rows);
    if (!column)
        p.output.push_back(p.shape.columns);
    if (!elementCount(p.output))
        return badInput("the product would be too large");
    Shape loop = *batch;
    // All rows of a batch that shares one B are one product.
    if (elementCount(batchB) == 1 && elementCount(*batch) == elementCount(batchA)) {
        p.shape.rows *= elementCount(batchA).value_or(0);
        loop = {};
    }
    const Shape operands[] { loop.empty() ? Shape {} : batchA, loop.empty() ? Shape {} : batchB };
    p.batches = makeBroadcastLoop(operands, loop);
    return p;
}

/// Calls product(a, b, c) with element offsets of each matrix in turn; false stops.
template <class Fn> bool forEachProduct(const BatchedProduct& p, Fn product)
{
    const auto sizeA = size_t(p.shape.rows * p.shape.inner), sizeB = size_t(p.shape.inner * p.shape.columns),
               sizeC = size_t(p.shape.rows * p.shape.columns);
    bool ok = true;
    forEachRun(p.batches, [&](std::span<const size_t> offsets, size_t out) {
        for (size_t i = 0; i < p.batches.runLength() && ok; ++i)
            ok = product((offsets[0] + i * p.batches.innerStride(0)) * sizeA,
                (offsets[1] + i * p.batches.innerStride(1)) * sizeB, (out + i) * sizeC);
    });
    return ok;
}

/// W: double for floats, int64_t for integers, multiplied as Acc.
template <class W, class Acc>
Tensor multiplyReference(const StepContext& c, const BatchedProduct& p, const Tensor& a, const Tensor& b)
{
    const Tensor wa = asWork<W>(c, a), wb = asWork<W>(c, b);
    Tensor y = c.allocate(dtypeOf<W>(), p.output);
    const auto* pa = reinterpret_cast<const Acc*>(wa.data<W>().data());
    const auto* pb = reinterpret_cast<const Acc*>(wb.data<W>().data());
    auto* py = reinterpret_cast<Acc*>(y.fill<W>().data());
    forEachProduct(p, [&](size_t oa, size_t ob, size_t oc) {
        matmulReference<Acc>(p.shape, pa + oa, pb + ob, py + oc);
        return true;
    });
    return y;
}

/// Invalid when there is no fast kernel.
Tensor multiplyFast(
    const ProductStep& step, const StepContext& c, const BatchedProduct& p, const Tensor& a, const Tensor& b)
{
    // Several constant matrices (a batch of them) are not packed.
    FloatMatmul unpacked(nullptr);
    const bool packed = step.constantB.valid() && p.shape.inner * p.shape.columns == b.count();
    const auto prepared = (packed || !step.constantB.valid() ? *step.fast : unpacked).prepare(p.shape);
    if (!prepared)
        return {};
    const Tensor wa = asWork<float>(c, a), wb = step.constantB.valid() ? step.constantB : asWork<float>(c, b);
    Tensor y = c.allocate(DType::Float32, p.output);
    Tensor scratch = c.allocate(DType::UInt8, { static_cast<int64_t>(prepared->scratchBytes()) });
    const float *pa = wa.data<float>().data(), *pb = wb.data<float>().data();
    float* py = y.fill<float>().data();
    const bool ok = forEachProduct(p,
        [&](size_t oa, size_t ob, size_t oc) { return prepared->run(pa + oa, pb + ob, py + oc, writable(scratch)); });
    return ok ? y : Tensor();
}

bool usesDouble(const ProductStep& step, DType type)
{
    return step.mode == KernelMode::Reference || type == DType::Float64;
}

/// The product as a tensor of float32, float64 or int64.
Tensor multiply(
    const ProductStep& step, const StepContext& c, const BatchedProduct& p, const Tensor& a, const Tensor& b)
{
    if (isInteger(a.dtype()))
        return multiplyReference<int64_t, uint64_t>(c, p, a, b);
    if (!usesDouble(step, a.dtype()) && p.shape.inner > 0 && elementCount(p.output) != 0) {
        Tensor y = multiplyFast(step, c, p, a, b);
        if (y.valid())
            return y;
    }
    return multiplyReference<double, double>(c, p, a, b);
}

Tensor stored(const StepContext& c, Tensor y, DType type)
{
    if (y.dtype() == DType::Float64)
        return fromWork<double>(c, std::move(y), type);
    return y.dtype() == DType::Int64 ? fromWork<int64_t>(c, std::move(y), type)
                                     : fromWork<float>(c, std::move(y), type);
}

Status checkTypes(const StepContext& c)
{
    if (!c.input(0) || !c.input(1))
        return badInput("an operand is missing");
    const DType a = c.in(0).dtype(), b = c.in(1).dtype();
    const bool integer = isInteger(a) && dtypeBits(a) >= 8;
    if (a != b || !(isComputedFloat(a) || integer))
        return unsupportedType(isComputedFloat(a) || integer ? b : a);
    return {};
}

Status runMatMul(const ProductStep& step, StepContext& c)
{
    QS_CHECK(checkTypes(c));
    QS_TRY(const BatchedProduct p, batchedProduct(c.in(0), c.in(1)));
    c.setOutput(0, stored(c, multiply(step, c, p, c.in(0), c.in(1)), c.in(0).dtype()));
    return {};
}

/// y = alpha * y + beta * addend, in the type of y.
template <class W, class Acc>
void finishGemm(const ProductStep& step, const StepContext& c, Tensor& y, const Tensor* addend)
{
    const Tensor wc = addend ? asWork<W>(c, *addend) : Tensor();
    MatrixAddend<Acc> add { reinterpret_cast<const Acc*>(dataOrNull<W>(wc)), 0, 0 };
    if (addend) {
        const Shape& s = addend->shape();
        const int64_t columns = s.empty() ? 1 : s.back();
        add.columnStride = columns == 1 ? 0 : 1;
        add.rowStride = s.size() < 2 || s[s.size() - 2] == 1 ? 0 : columns;
    }
    auto* data = reinterpret_cast<Acc*>(y.fill<W>().data());
    scaleAndAdd<Acc>(y.dim(0), y.dim(1), step.alpha, step.beta, add, data);
}

Status runGemm(const ProductStep& step, StepContext& c)
{
    QS_CHECK(checkTypes(c));
    const Tensor &a = c.in(0), &b = c.in(1);
    if (a.rank() != 2 || b.rank() != 2)
        return badInput(
            "matrices " + shapeText(a.shape()) + " and " + shapeText(b.shape()) + " are not both of rank 2");
    BatchedProduct p;
    p.shape = { a.dim(step.transposeA ? 1 : 0), a.dim(step.transposeA ? 0 : 1), b.dim(step.transposeB ? 0 : 1),
        step.transposeA, step.transposeB };
    if (b.dim(step.transposeB ? 1 : 0) != p.shape.inner)
        return badInput("matrices " + shapeText(a.shape()) + " and " + shapeText(b.shape()) + " cannot be multiplied");
    p.output = { p.shape.rows, p.shape.columns };
    p.batches = makeBroadcastLoop(std::vector<Shape>(2), {});
    const Tensor* addend = c.input(2);
    if (addend && broadcastShapes(addend->shape(), p.output) != p.output)
        return badInput("C of shape " + shapeText(addend->shape()) + " does not broadcast to " + shapeText(p.output));
    Tensor y = multiply(step, c, p, a, b);
    if (y.dtype() == DType::Float32)
        finishGemm<float, float>(step, c, y, addend);
    else if (y.dtype() == DType::Float64)
        finishGemm<double, double>(step, c, y, addend);
    else
        finishGemm<int64_t, uint64_t>(step, c, y, addend);
    c.setOutput(0, stored(c, std::move(y), a.dtype()));
    return {};
}

Status checkLowered(const LowerContext& context)
{
    const DType type = context.inputType(0);
    if (type == DType::Undefined || isComputedFloat(type) || (isInteger(type) && dtypeBits(type) >= 8))
        return {};
    return unsupportedType(type);
}

std::string kernelName(const LowerContext& context)
{
    return context.mode == KernelMode::Fast && !isInteger(context.inputType(0)) ? "onednn matmul" : "reference";
}

Result<LoweredNode> lowerMatMul(const LowerContext& context)
{
    QS_CHECK(checkLowered(context));
    auto step = std::make_shared<const ProductStep>(context);
    return LoweredNode { [step](StepContext& c) { return runMatMul(*step, c); }, kernelName(context) };
}

Result<LoweredNode> lowerGemm(const LowerContext& context)
{
    QS_CHECK(checkLowered(context));
    auto step = std::make_shared<ProductStep>(context);
    step->transposeA = context.node.attributes.integer("transA", 0) != 0;
    step->transposeB = context.node.attributes.integer("transB", 0) != 0;
    step->alpha = context.node.attributes.real("alpha", 1);
    step->beta = context.node.attributes.real("beta", 1);
    return LoweredNode { [step](StepContext& c) { return runGemm(*step, c); }, kernelName(context) };
}

} // namespace

void lowerMatmul(LoweringRegistry& r)
{
    r.add("", "MatMul", lowerMatMul);
    r.add("", "Gemm", lowerGemm);
}

} // namespace qs
