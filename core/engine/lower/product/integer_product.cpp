// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/common/movement.h"
#include "core/engine/lower/common/row_parts.h"
#include "core/engine/lower/product/stacked_product.h"
#include "core/engine/registry/registry.h"
#include "core/graph/domains.h"
#include "core/kernels/quantize/quantize.h"
#include "core/tensor/convert.h"

#include <algorithm>

/// Matrix products of codes: MatMulInteger, QLinearMatMul, QGemm, DynamicQuantizeMatMul, MatMulIntegerToFloat.
namespace qs {

namespace {

/// A product as its family names and describes it.
LoweredNode productNode(const LowerContext& c, StepFn run)
{
    LoweredNode node { std::move(run),
        c.mode == KernelMode::Reference ? "reference"
            : hasDotProducts()          ? "int8 dots"
                                        : "int16 pairs" };
    node.countsPairs = c.saturation != PairSaturation::None;
    return node;
}

Result<LoweredNode> lowerMatMulInteger(const LowerContext& c)
{
    const RightCodesPtr right = prepareRight(c, 1, 3);
    return productNode(c, [right](StepContext& s) -> Status {
        QS_CHECK(needInputs(s, 2));
        QS_TRY(const StackedProduct p, stackedProduct(s.in(0).shape(), s.in(1).shape()));
        const CodeOperands o { &s.in(0), &s.in(1), zeroPointsOf(s.input(2)), zeroPointsOf(s.input(3)) };
        QS_TRY(Tensor out, allocateChecked(s, DType::Int32, p.out));
        QS_CHECK(sumProduct(o, p, *right, s, out.fill<int32_t>().data()));
        s.setOutput(0, std::move(out));
        return {};
    });
}

/// f32(as * bs) of every column for one row of the output; divided by `divisor` when it is not null.
void fillScales(std::span<const float> a, std::span<const float> b, int64_t row, const float* divisor, float alpha,
    std::span<float> out)
{
    const float as = alpha * a[a.size() == 1 ? 0 : static_cast<size_t>(row)];
    for (size_t c = 0; c < out.size(); ++c) {
        const float product = as * b[b.size() == 1 ? 0 : c];
        out[c] = divisor ? product / *divisor : product;
    }
}

/// Sums of a whole product to codes, with scales for each row and column.
Status finishProduct(StepContext& s, KernelMode mode, const StackedProduct& p, const Tensor& sums,
    const std::vector<float>& aScale, const std::vector<float>& bScale, const OutputCodes& codes)
{
    QS_CHECK(checkEntries(aScale, p.a, p.a.rows, "the left scale"));
    QS_CHECK(checkEntries(bScale, p.b, p.b.columns, "the right scale"));
    if (aScale.empty() || bScale.empty())
        return badInput("a scale is empty");
    Tensor out = s.allocate(codes.type, p.out), unrounded;
    if (s.wantsUnrounded())
        unrounded = s.allocate(DType::Float32, p.out);
    const auto columns = static_cast<size_t>(p.b.columns);
    std::vector<float> scale(columns), multiplier(columns);
    const RowEpilogue epilogue { mode, codes, p.b.columns, scale, multiplier, {}, out.fill<uint8_t>().data(),
        s.wantsUnrounded() ? unrounded.fill<float>().data() : nullptr };
    for (int64_t i = 0; i < product(p.batch, 0, p.batch.size()); ++i) {
        const auto as = entriesOf(aScale, p.a.rows, batchIndex(p.batch, p.a.batch, i));
        const auto bs = entriesOf(bScale, p.b.columns, batchIndex(p.batch, p.b.batch, i));
        const int64_t step = as.size() == 1 ? p.a.rows : 1;
        for (int64_t r = 0; r < p.a.rows; r += step) {
            fillScales(as, bs, r, nullptr, 1.0f, scale);
            fillScales(as, bs, r, &codes.scale, 1.0f, multiplier);
            const int64_t first = i * p.a.rows + r;
            requantizeRows(epilogue, sums.data<int32_t>().data() + first * p.b.columns, first, step);
        }
    }
    s.setOutput(0, std::move(out));
    if (s.wantsUnrounded())
        s.setUnrounded(std::move(unrounded));
    return {};
}

/// Scales and bias of one product.
struct ProductNumbers {
    std::vector<float> aScale, bScale;
    const Tensor* bias = nullptr; ///< int32, one a column
};

/// Codes with no sums in between; invalid where something asks for the sums or changes them row by row.
Result<Tensor> directCodes(StepContext& s, const CodeOperands& o, const StackedProduct& p, const RightCodes& right,
    const ProductNumbers& n, const OutputCodes& codes)
{
    const int64_t columns = p.b.columns;
    const bool oneRowScale = n.aScale.size() == 1 && o.aZero.size() <= 1;
    const bool biasFits = !n.bias
        || (n.bias->dtype() == DType::Int32 && n.bias->count() == columns && n.bias->rank() > 0
            && n.bias->shape().back() == columns);
    if (right.mode == KernelMode::Reference || !right.packed || right.saturation != PairSaturation::None
        || s.wantsUnrounded() || !oneRowScale || !biasFits || !isCode(o.a->dtype())
        || (n.bScale.size() != 1 && static_cast<int64_t>(n.bScale.size()) != columns))
        return Tensor();
    QS_TRY(Tensor out, allocateChecked(s, codes.type, p.out));
    std::vector<float> multiplier(static_cast<size_t>(columns));
    fillScales(n.aScale, n.bScale, 0, &codes.scale, 1.0f, multiplier);
    const auto range = *codeRange(codes.type);
    const Requantization q { multiplier, n.bias ? n.bias->data<int32_t>() : std::span<const int32_t>(), codes.zeroPoint,
        static_cast<int32_t>(range.low), static_cast<int32_t>(range.high) };
    const RowParts parts(s, p.a.rows, kRowsTogether, p.a.columns * columns);
    const int64_t scratchBytes
        = right.packed->empty() ? 0 : (right.packed->front().scratchBytes(p.a.rows) + 63) / 64 * 64;
    Tensor scratch = s.allocate(DType::UInt8, { scratchBytes * static_cast<int64_t>(parts.workers()) });
    for (int64_t i = 0; i < product(p.batch, 0, p.batch.size()); ++i) {
        const int64_t ia = batchIndex(p.batch, p.a.batch, i), ib = batchIndex(p.batch, p.b.batch, i);
        parts.run(s, [&](int64_t first, int64_t rows, size_t worker) {
            (*right.packed)[static_cast<size_t>(ib)].codes(codesOf(*o.a).from((ia * p.a.rows + first) * p.a.columns),
                rows, pick(o.aZero, 0), q, writable(scratch) + static_cast<int64_t>(worker) * scratchBytes,
                out.fill<uint8_t>().data() + (i * p.a.rows + first) * columns);
        });
    }
    return out;
}

Result<LoweredNode> lowerQLinearMatMul(const LowerContext& c)
{
    const RightCodesPtr right = prepareRight(c, 3, 5);
    LoweredNode node = productNode(c, [right](StepContext& s) -> Status {
        QS_CHECK(needInputs(s, 7));
        QS_TRY(const StackedProduct p, stackedProduct(s.in(0).shape(), s.in(3).shape()));
        QS_TRY(const OutputCodes codes, outputCodes(s, 6, 7, s.in(0).dtype()));
        const CodeOperands o { &s.in(0), &s.in(3), zeroPointsOf(s.input(2)), zeroPointsOf(s.input(5)) };
        const ProductNumbers numbers { toFloats(s.in(1)), toFloats(s.in(4)) };
        QS_TRY(Tensor direct, directCodes(s, o, p, *right, numbers, codes));
        if (direct.valid()) {
            s.setOutput(0, std::move(direct));
            return {};
        }
        QS_TRY(Tensor sums, allocateChecked(s, DType::Int32, p.out));
        QS_CHECK(sumProduct(o, p, *right, s, sums.fill<int32_t>().data()));
        return finishProduct(s, right->mode, p, sums, numbers.aScale, numbers.bScale, codes);
    });
    node.offersUnrounded = true;
    return node;
}

/// The rows of op(A) or op(B) as a plain matrix (transposed when the attribute says so).
Tensor maybeTransposed(const Tensor& t, bool transpose)
{
    if (!transpose)
        return t;
    Tensor out = Tensor::allocate(t.dtype(), { t.dim(1), t.dim(0) });
    const int64_t rows = t.dim(0), columns = t.dim(1);
    const uint8_t* from = t.data<uint8_t>().data();
    uint8_t* to = out.fill<uint8_t>().data();
    for (int64_t r = 0; r < rows; ++r)
        for (int64_t c = 0; c < columns; ++c)
            to[c * rows + r] = from[r * columns + c];
    return out;
}

/// Adds C (broadcast to the output) to the sums, modulo 2^32.
Status addBias(const Tensor& c, Tensor& sums)
{
    const auto shape = broadcastShapes(c.shape(), sums.shape());
    if (!shape || *shape != sums.shape() || c.dtype() != DType::Int32)
        return badInput("a bias of shape " + shapeText(c.shape()) + " and type " + std::string(dtypeName(c.dtype()))
            + " cannot be added to a product of shape " + shapeText(sums.shape()));
    const auto values = c.data<int32_t>();
    const bool perRow = c.rank() == 2 && c.dim(0) != 1;
    const bool perColumn = c.rank() > 0 && c.shape().back() != 1;
    const int64_t columns = sums.dim(1);
    for (int64_t r = 0; r < sums.dim(0); ++r)
        for (int64_t k = 0; k < columns; ++k) {
            const int64_t from = (perRow ? r * (perColumn ? columns : 1) : 0) + (perColumn ? k : 0);
            int32_t& sum = sums.fill<int32_t>()[static_cast<size_t>(r * columns + k)];
            sum = static_cast<int32_t>(
                static_cast<uint32_t>(sum) + static_cast<uint32_t>(values[static_cast<size_t>(from)]));
        }
    return {};
}

Status runQGemm(const Node& node, const Tensor* constantB, const RightCodes& right, StepContext& s)
{
    QS_CHECK(needInputs(s, 5));
    for (size_t slot : { 0, 3 }) {
        QS_CHECK(checkCodes(s.in(slot), "a matrix"));
        if (s.in(slot).rank() != 2)
            return badInput("both matrices need rank 2");
    }
    const Tensor a = maybeTransposed(s.in(0), node.attributes.integer("transA", 0) != 0);
    const Tensor b = constantB ? *constantB : maybeTransposed(s.in(3), node.attributes.integer("transB", 0) != 0);
    QS_TRY(const StackedProduct p, stackedProduct(a.shape(), b.shape()));
    const CodeOperands o { &a, &b, zeroPointsOf(s.input(2)), zeroPointsOf(s.input(5)) };
    const float alpha = node.attributes.real("alpha", 1);
    ProductNumbers numbers { toFloats(s.in(1)), toFloats(s.in(4)), s.input(6) };
    if (numbers.aScale.size() != 1)
        return badInput("the left scale must be one number");
    if (numbers.bScale.empty())
        return badInput("the right scale is empty");
    numbers.aScale[0] *= alpha;
    const auto& [aScale, bScale, bias] = numbers;
    if (s.input(7)) {
        QS_TRY(const OutputCodes codes, outputCodes(s, 7, 8, a.dtype()));
        QS_TRY(Tensor direct, directCodes(s, o, p, right, numbers, codes));
        if (direct.valid()) {
            s.setOutput(0, std::move(direct));
            return {};
        }
    }
    QS_TRY(Tensor sums, allocateChecked(s, DType::Int32, p.out));
    QS_CHECK(sumProduct(o, p, right, s, sums.fill<int32_t>().data()));
    if (bias) {
        QS_CHECK(addBias(*bias, sums));
    }
    if (s.input(7)) {
        QS_TRY(const OutputCodes codes, outputCodes(s, 7, 8, a.dtype()));
        return finishProduct(s, right.mode, p, sums, aScale, bScale, codes);
    }
    QS_CHECK(checkEntries(bScale, p.b, p.b.columns, "the right scale"));
    std::vector<float> scale(static_cast<size_t>(p.b.columns));
    fillScales(aScale, bScale, 0, nullptr, 1.0f, scale);
    Tensor out = s.allocate(DType::Float32, p.out);
    scaleSums(sums.data<int32_t>().data(), p.a.rows, p.b.columns, scale, {}, out.fill<float>().data());
    s.setOutput(0, std::move(out));
    return {};
}

Result<LoweredNode> lowerQGemm(const LowerContext& c)
{
    std::shared_ptr<const Tensor> b;
    LowerContext turned = c;
    std::vector<const Tensor*> constants(c.constants.begin(), c.constants.end());
    const Tensor* given = c.constant(3);
    if (given && given->rank() == 2 && isCode(given->dtype())) {
        b = std::make_shared<Tensor>(maybeTransposed(*given, c.node.attributes.integer("transB", 0) != 0));
        constants[3] = b.get();
    }
    turned.constants = constants;
    const RightCodesPtr right = prepareRight(turned, 3, 5);
    LoweredNode node
        = productNode(c, [right, b, n = &c.node](StepContext& s) { return runQGemm(*n, b.get(), *right, s); });
    node.offersUnrounded = c.node.hasInput(7);
    return node;
}

/// Sums to floats: f32(sum) * (as * bs[column]) + bias.
Status productToFloat(StepContext& s, const CodeOperands& o, const std::vector<float>& aScale,
    const std::vector<float>& bScale, const Tensor* bias, const RightCodes& right)
{
    QS_TRY(const StackedProduct p, stackedProduct(o.a->shape(), o.b->shape()));
    QS_CHECK(checkEntries(aScale, p.a, p.a.rows, "the left scale"));
    QS_CHECK(checkEntries(bScale, p.b, p.b.columns, "the right scale"));
    if (aScale.empty() || bScale.empty() || (bias && bias->count() != p.b.columns))
        return badInput("a scale or the bias does not fit the columns");
    QS_TRY(Tensor sums, allocateChecked(s, DType::Int32, p.out));
    QS_CHECK(sumProduct(o, p, right, s, sums.fill<int32_t>().data()));
    Tensor out = s.allocate(DType::Float32, p.out);
    const int64_t columns = p.b.columns;
    std::vector<float> scale(static_cast<size_t>(columns));
    const std::vector<float> offsets = bias ? toFloats(*bias) : std::vector<float> {};
    for (int64_t i = 0; i < product(p.batch, 0, p.batch.size()); ++i)
        for (int64_t r = 0; r < p.a.rows; ++r) {
            fillScales(entriesOf(aScale, p.a.rows, batchIndex(p.batch, p.a.batch, i)),
                entriesOf(bScale, columns, batchIndex(p.batch, p.b.batch, i)), r, nullptr, 1.0f, scale);
            const int64_t at = (i * p.a.rows + r) * columns;
            float* line = out.fill<float>().data() + at;
            scaleSums(sums.data<int32_t>().data() + at, 1, columns, scale, {}, line);
            for (size_t k = 0; k < offsets.size(); ++k)
                line[k] += offsets[k];
        }
    s.setOutput(0, std::move(out));
    return {};
}

Result<LoweredNode> lowerMatMulIntegerToFloat(const LowerContext& c)
{
    const RightCodesPtr right = prepareRight(c, 1, 5);
    return productNode(c, [right](StepContext& s) -> Status {
        QS_CHECK(needInputs(s, 4));
        const CodeOperands o { &s.in(0), &s.in(1), zeroPointsOf(s.input(4)), zeroPointsOf(s.input(5)) };
        return productToFloat(s, o, toFloats(s.in(2)), toFloats(s.in(3)), s.input(6), *right);
    });
}

struct DynamicCodes {
    Tensor codes;
    float scale = 1;
    int32_t zeroPoint = 0;
};

/// uint8 codes of input 0 over its own range. Source: ONNX DynamicQuantizeLinear.
DynamicCodes quantizeDynamically(const StepContext& s)
{
    const Tensor& x = s.in(0);
    const auto n = static_cast<size_t>(x.count());
    const DynamicScale made = dynamicScale(rangeWithZero(x.data<float>().data(), n));
    DynamicCodes d { {}, made.scale, made.zeroPoint };
    d.codes = s.allocate(DType::UInt8, x.shape());
    quantizeFast<uint8_t>(x.data<float>().data(), { &d.scale, &d.zeroPoint, 0 }, d.codes.fill<uint8_t>().data(), n);
    return d;
}

Result<LoweredNode> lowerDynamicQuantizeMatMul(const LowerContext& c)
{
    const RightCodesPtr right = prepareRight(c, 1, 3);
    return productNode(c, [right](StepContext& s) -> Status {
        QS_CHECK(needInputs(s, 3));
        if (s.in(0).dtype() != DType::Float32)
            return badInput("the left matrix must be float32");
        const DynamicCodes a = quantizeDynamically(s);
        const CodeOperands o { &a.codes, &s.in(1), { a.zeroPoint }, zeroPointsOf(s.input(3)) };
        return productToFloat(s, o, { a.scale }, toFloats(s.in(2)), s.input(4), *right);
    });
}

} // namespace

void lowerIntegerProduct(LoweringRegistry& r)
{
    r.add("", "MatMulInteger", lowerMatMulInteger);
    r.add("", "QLinearMatMul", lowerQLinearMatMul);
    r.add(kMicrosoftDomain, "QGemm", lowerQGemm);
    r.add(kMicrosoftDomain, "MatMulIntegerToFloat", lowerMatMulIntegerToFloat);
    r.add(kMicrosoftDomain, "DynamicQuantizeMatMul", lowerDynamicQuantizeMatMul);
}

} // namespace qs
