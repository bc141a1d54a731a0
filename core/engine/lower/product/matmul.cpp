// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/common/at_first_run.h"
#include "core/engine/lower/common/float_work.h"
#include "core/engine/lower/common/prepared_conv.h"
#include "core/engine/registry/registry.h"

#include "core/kernels/convolution/row_conv.h"
#include "core/kernels/elementwise/broadcast.h"
#include "core/kernels/product/matmul.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <new>

namespace qs {

namespace {

/// A lowered MatMul or Gemm.
struct ProductStep {
    KernelMode mode;
    /// A constant B as float32; invalid when it is computed.
    struct Right {
        Tensor floats;
        std::unique_ptr<FloatMatmul> fast;
    };
    Tensor constantB; ///< as the file has it; invalid when it is computed
    AtFirstRun<Right> right;
    AtFirstRun<std::shared_ptr<const RowConvWeights>> packedB; ///< a constant matrix B; empty: by `fast`
    bool complete = false; ///< packedB makes a whole Gemm, with C
    bool transposeA = false; ///< Gemm
    bool transposeB = false;
    float alpha = 1;
    float beta = 1;

    explicit ProductStep(const LowerContext& context)
        : mode(context.mode)
    {
        const Tensor* b = context.constant(1);
        if (mode == KernelMode::Fast && b && isComputedFloat(b->dtype()) && b->dtype() != DType::Float64)
            constantB = *b;
        right = AtFirstRun<Right>([given = constantB] {
            Right made { given.valid() ? constantFloats(given) : Tensor(), nullptr };
            made.fast = std::make_unique<FloatMatmul>(dataOrNull<float>(made.floats));
            return made;
        });
    }
    /// Once alpha, beta and the transpositions are known; `c` is null where it is computed, too.
    void pack(const Tensor* c, bool hasC)
    {
        if (!constantB.valid() || constantB.rank() != 2 || constantB.count() == 0 || transposeA || !hasFloatRows())
            return;
        const int64_t inner = constantB.dim(transposeB ? 1 : 0), columns = constantB.dim(transposeB ? 0 : 1);
        Tensor bias;
        const bool isRow = c && isComputedFloat(c->dtype()) && c->count() == columns
            && (c->rank() == 1 || (c->rank() == 2 && c->dim(0) == 1));
        complete = alpha == 1 && (!hasC || (isRow && beta == 1));
        if (complete && hasC)
            bias = constantFloats(*c);
        packedB = AtFirstRun<std::shared_ptr<const RowConvWeights>>(
            [given = constantB, bias = std::move(bias), inner, columns, transposed = transposeB] {
                const Tensor b = constantFloats(given);
                return packProduct(b.data<float>().data(), inner, columns, transposed, dataOrNull<float>(bias));
            });
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

/// Element offsets of the matrices of one product.
struct ProductPlace {
    size_t a = 0, b = 0, c = 0;
};

std::vector<ProductPlace> productPlaces(const BatchedProduct& p)
{
    const auto sizeA = size_t(p.shape.rows * p.shape.inner), sizeB = size_t(p.shape.inner * p.shape.columns),
               sizeC = size_t(p.shape.rows * p.shape.columns);
    std::vector<ProductPlace> places;
    if (elementCount(p.output).value_or(0) == 0)
        return places;
    forEachRun(p.batches, [&](std::span<const size_t> offsets, size_t out) {
        for (size_t i = 0; i < p.batches.runLength(); ++i)
            places.push_back({ (offsets[0] + i * p.batches.innerStride(0)) * sizeA,
                (offsets[1] + i * p.batches.innerStride(1)) * sizeB, (out + i) * sizeC });
    });
    return places;
}

/// A single large product is made in blocks of rows (the last one may be smaller); a function of the shape alone.
int64_t rowsOfBlock(const ProductShape& s)
{
    constexpr int64_t kCacheBytes = int64_t(256) << 10, kBlockMacs = 4'000'000, kFewestRows = 16;
    const int64_t macs = s.rows * s.inner * s.columns, out = 4 * s.rows * s.columns, b = 4 * s.inner * s.columns;
    int64_t blocks = std::max((out + kCacheBytes - 1) / kCacheBytes, std::min<int64_t>(macs / kBlockMacs, 8));
    if (b > 2 * kCacheBytes) // each block reads all of B
        blocks = std::min(blocks, 2 + 4 * (out + 4 * s.rows * s.inner) / b);
    blocks = std::clamp<int64_t>(blocks, 1, std::max<int64_t>(s.rows / kFewestRows, 1));
    blocks = int64_t(std::bit_floor(uint64_t(blocks))); // shared well by any even number of threads
    return s.transposeA ? s.rows : (s.rows + blocks - 1) / blocks;
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
    for (const ProductPlace& at : productPlaces(p))
        matmulReference<Acc>(p.shape, pa + at.a, pb + at.b, py + at.c);
    return y;
}

/// The same product, cut into blocks of rows where it is a single one.
struct ProductBlocks {
    std::vector<ProductPlace> places;
    std::vector<int64_t> rows; ///< by place
};

ProductBlocks productBlocks(const BatchedProduct& p)
{
    ProductBlocks blocks { productPlaces(p), {} };
    blocks.rows.assign(blocks.places.size(), p.shape.rows);
    const int64_t step = blocks.places.size() == 1 ? rowsOfBlock(p.shape) : p.shape.rows;
    if (step == p.shape.rows)
        return blocks;
    blocks = {};
    for (int64_t first = 0; first < p.shape.rows; first += step) {
        blocks.places.push_back({ size_t(first * p.shape.inner), 0, size_t(first * p.shape.columns) });
        blocks.rows.push_back(std::min(step, p.shape.rows - first));
    }
    return blocks;
}

/// Invalid when there is no fast kernel.
Tensor multiplyFast(const ProductStep& step, const StepContext& c, const BatchedProduct& p, const Tensor& a,
    const Tensor& b, const EpilogueFn& epilogue)
{
    if (step.packedB) {
        const Tensor x = asWork<float>(c, a);
        Tensor y = c.allocate(DType::Float32, p.output);
        const auto prepared = prepareProduct(p.shape.rows, *step.packedB);
        if (!runPrepared(c, *prepared, x.data<float>().data(), y, epilogue).ok())
            throw std::bad_alloc();
        return y;
    }
    // Several constant matrices (a batch of them) are not packed.
    FloatMatmul unpacked(nullptr);
    const bool packed = step.constantB.valid() && p.shape.inner * p.shape.columns == b.count();
    FloatMatmul& products = packed || !step.constantB.valid() ? *step.right->fast : unpacked;
    const ProductBlocks blocks = productBlocks(p);
    ProductShape whole = p.shape, last = p.shape;
    whole.rows = blocks.rows.front();
    last.rows = blocks.rows.back();
    const auto most = products.prepare(whole), rest = products.prepare(last);
    if (!most || !rest)
        return {};
    const Tensor wa = asWork<float>(c, a), wb = step.constantB.valid() ? step.right->floats : asWork<float>(c, b);
    Tensor y = c.allocate(DType::Float32, p.output);
    const size_t scratchBytes = (std::max(most->scratchBytes(), rest->scratchBytes()) + 63) / 64 * 64;
    Tensor scratch = c.allocate(DType::UInt8, { static_cast<int64_t>(scratchBytes * c.workers()) });
    const PieceFn take = epilogue ? epilogue(y).take : PieceFn();
    const float *pa = wa.data<float>().data(), *pb = wb.data<float>().data();
    float* py = y.fill<float>().data();
    std::byte* memory = writable(scratch);
    std::atomic<bool> ok = true;
    c.parallel(blocks.places.size(), [&](size_t i, size_t worker) {
        const ProductPlace& at = blocks.places[i];
        const auto& product = blocks.rows[i] == whole.rows ? *most : *rest;
        if (!product.run(pa + at.a, pb + at.b, py + at.c, memory + worker * scratchBytes))
            ok = false;
        else if (take)
            take(py, at.c, at.c + size_t(blocks.rows[i] * p.shape.columns), worker);
    });
    if (!ok)
        throw std::bad_alloc();
    return y;
}

bool usesDouble(const ProductStep& step, DType type)
{
    return step.mode == KernelMode::Reference || type == DType::Float64;
}

/// The product as a tensor of float32, float64 or int64.
Tensor multiply(const ProductStep& step, const StepContext& c, const BatchedProduct& p, const Tensor& a,
    const Tensor& b, const EpilogueFn& epilogue = {})
{
    if (isInteger(a.dtype()))
        return multiplyReference<int64_t, uint64_t>(c, p, a, b);
    if (!usesDouble(step, a.dtype()) && p.shape.inner > 0 && elementCount(p.output) != 0) {
        Tensor y = multiplyFast(step, c, p, a, b, a.dtype() == DType::Float32 ? epilogue : EpilogueFn());
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
    if (!(isComputedFloat(a) || integer))
        return unsupportedType(a);
    if (a != b)
        return badInput("its factors have different element types, " + std::string(dtypeName(a)) + " and "
            + std::string(dtypeName(b)));
    return {};
}

Status runMatMul(const ProductStep& step, StepContext& c, const EpilogueFn& epilogue)
{
    QS_CHECK(checkTypes(c));
    QS_TRY(const BatchedProduct p, batchedProduct(c.in(0), c.in(1)));
    c.setOutput(0, stored(c, multiply(step, c, p, c.in(0), c.in(1), epilogue), c.in(0).dtype()));
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

Status runGemm(const ProductStep& step, StepContext& c, const EpilogueFn& epilogue)
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
    Tensor y = multiply(step, c, p, a, b, step.complete ? epilogue : EpilogueFn());
    if (y.dtype() == DType::Float32 && step.complete) {
        // The sums began with C.
    } else if (y.dtype() == DType::Float32)
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

std::string kernelName(const LowerContext& context, const ProductStep& step)
{
    if (step.packedB)
        return "row product";
    return context.mode == KernelMode::Fast && !isInteger(context.inputType(0)) ? "onednn matmul" : "reference";
}

Result<LoweredNode> lowerMatMul(const LowerContext& context)
{
    QS_CHECK(checkLowered(context));
    auto step = std::make_shared<ProductStep>(context);
    step->pack(nullptr, false);
    LoweredNode lowered { [step](StepContext& c) { return runMatMul(*step, c, {}); }, kernelName(context, *step) };
    if (context.mode == KernelMode::Fast && context.inputType(0) == DType::Float32)
        lowered.runInPieces
            = [step](StepContext& c, const EpilogueFn& epilogue) { return runMatMul(*step, c, epilogue); };
    return lowered;
}

Result<LoweredNode> lowerGemm(const LowerContext& context)
{
    QS_CHECK(checkLowered(context));
    auto step = std::make_shared<ProductStep>(context);
    step->transposeA = context.node.attributes.integer("transA", 0) != 0;
    step->transposeB = context.node.attributes.integer("transB", 0) != 0;
    step->alpha = context.node.attributes.real("alpha", 1);
    step->beta = context.node.attributes.real("beta", 1);
    step->pack(context.constant(2), context.node.hasInput(2));
    LoweredNode lowered { [step](StepContext& c) { return runGemm(*step, c, {}); }, kernelName(context, *step) };
    if (step->complete && context.inputType(0) == DType::Float32)
        lowered.runInPieces
            = [step](StepContext& c, const EpilogueFn& epilogue) { return runGemm(*step, c, epilogue); };
    return lowered;
}

} // namespace

void lowerMatmul(LoweringRegistry& r)
{
    r.add("", "MatMul", lowerMatMul);
    r.add("", "Gemm", lowerGemm);
}

} // namespace qs
