// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/product/integer_parts.h"
#include "core/graph/domains.h"

#include "core/engine/lower/common/movement.h"
#include "core/engine/lower/common/row_parts.h"
#include "core/kernels/product/code_product.h"
#include "core/kernels/quantize/quantize.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <optional>

/// Matrix products of codes: MatMulInteger, QLinearMatMul, QGemm, DynamicQuantizeMatMul, MatMulIntegerToFloat.
namespace qs {

bool isCode(DType type) { return type == DType::UInt8 || type == DType::Int8; }

Codes codesOf(const Tensor& t) { return { t.data<uint8_t>().data(), t.dtype() == DType::Int8 }; }

std::vector<int32_t> zeroPointsOf(const Tensor* t)
{
    if (!t)
        return {};
    const auto values = toInts(*t);
    return { values.begin(), values.end() };
}

Result<float> singleReal(const Tensor& t, const char* what)
{
    if (t.count() != 1)
        return badInput(std::string(what) + " must be one number, it has shape " + shapeText(t.shape()));
    return static_cast<float>(elementAsDouble(t, 0));
}

Status checkCodes(const Tensor& t, const char* what)
{
    if (isCode(t.dtype()))
        return {};
    return badInput(
        std::string(what) + " of type " + std::string(dtypeName(t.dtype())) + " cannot be multiplied as integers", {},
        "use int8 or uint8");
}

Result<OutputCodes> outputCodes(const StepContext& s, size_t scaleSlot, size_t zeroSlot, DType fallback)
{
    OutputCodes out;
    QS_TRY(out.scale, singleReal(s.in(scaleSlot), "the output scale"));
    const Tensor* zero = s.input(zeroSlot);
    out.type = zero ? zero->dtype() : fallback;
    if (!isCode(out.type))
        return badInput(
            "an output of type " + std::string(dtypeName(out.type)) + " is not supported", {}, "use int8 or uint8");
    if (zero && zero->count() != 1)
        return badInput("the output zero point must be one number");
    out.zeroPoint = zero ? static_cast<int32_t>(elementAsInt(*zero, 0)) : 0;
    return out;
}

void finishRows(const RowFinish& f, const int32_t* sums, int64_t first, int64_t rows)
{
    const auto range = *codeRange(f.codes.type);
    const Requantization q { f.multiplier, f.bias, f.codes.zeroPoint, static_cast<int32_t>(range.low),
        static_cast<int32_t>(range.high) };
    const auto kernel = f.mode == KernelMode::Reference ? requantizeReference : requantize;
    kernel(sums, rows, f.columns, q, f.out + first * f.columns);
    if (f.unrounded)
        scaleSums(sums, rows, f.columns, f.scale, f.bias, f.unrounded + first * f.columns);
}

bool saturates(PairSaturation rule, DType left, DType right)
{
    const DType wanted = rule == PairSaturation::ShiftedLeft ? DType::Int8 : DType::UInt8;
    return rule != PairSaturation::None && left == wanted && right == DType::Int8;
}

void countPairs(const StepContext& s, int64_t rows, int64_t depth, std::span<const uint64_t> saturated)
{
    PairCounts* counts = s.pairCounts();
    if (!counts)
        return;
    counts->pairs += static_cast<uint64_t>(rows * ((depth + 1) / 2)) * saturated.size();
    if (counts->saturated.size() < saturated.size())
        counts->saturated.resize(saturated.size());
    for (size_t c = 0; c < saturated.size(); ++c)
        counts->saturated[c] += saturated[c];
}

namespace {

/// One operand of a batched product: a stack of matrices.
struct Stack {
    Shape batch;
    int64_t rows = 0, columns = 0;
};

/// Sizes of numpy's matmul of two tensors.
struct StackedProduct {
    Stack a, b;
    Shape batch; ///< broadcast
    Shape out; ///< as ONNX names it (vectors drop their axis)
};

Result<StackedProduct> stackedProduct(const Shape& a, const Shape& b)
{
    StackedProduct p;
    if (a.empty() || b.empty())
        return badInput("a scalar cannot be multiplied as a matrix");
    const bool row = a.size() == 1, column = b.size() == 1;
    p.a = { row ? Shape {} : Shape(a.begin(), a.end() - 2), row ? 1 : a[a.size() - 2], a.back() };
    p.b = { column ? Shape {} : Shape(b.begin(), b.end() - 2), column ? b[0] : b[b.size() - 2], column ? 1 : b.back() };
    const auto batch = broadcastShapes(p.a.batch, p.b.batch);
    if (!batch || p.a.columns != p.b.rows)
        return badInput("matrices of shapes " + shapeText(a) + " and " + shapeText(b) + " cannot be multiplied");
    p.batch = p.out = *batch;
    if (!row)
        p.out.push_back(p.a.rows);
    if (!column)
        p.out.push_back(p.b.columns);
    return p;
}

/// Which matrix of `own` belongs to matrix `index` of the broadcast batch.
int64_t batchIndex(const Shape& batch, const Shape& own, int64_t index)
{
    int64_t at = 0, step = 1;
    for (size_t d = batch.size(), o = own.size(); d-- > 0 && o-- > 0; index /= batch[d]) {
        if (own[o] != 1)
            at += index % batch[d] * step;
        step *= own[o];
    }
    return at;
}

/// Entries of a scale or zero point for matrix `index` of an operand: one for all, one for each row (of a) or column
/// (of b), or such a list for each matrix.
template <class T> std::span<const T> entriesOf(const std::vector<T>& list, int64_t perMatrix, int64_t index)
{
    if (list.size() <= 1 || static_cast<int64_t>(list.size()) == perMatrix)
        return list;
    return std::span(list).subspan(static_cast<size_t>(index * perMatrix), static_cast<size_t>(perMatrix));
}

template <class T>
Status checkEntries(const std::vector<T>& list, const Stack& stack, int64_t perMatrix, const char* what)
{
    const auto n = static_cast<int64_t>(list.size());
    if (n <= 1 || n == perMatrix || n == perMatrix * product(stack.batch, 0, stack.batch.size()))
        return {};
    return badInput(std::string(what) + " has " + std::to_string(n) + " entries, 1 or " + std::to_string(perMatrix)
        + " are needed");
}

/// Packed matrices of a constant right operand, made once.
using PackedStack = std::vector<CodeProduct>;

std::vector<SaturationTable> saturationTables(const Tensor& b, const Stack& stack)
{
    std::vector<SaturationTable> tables;
    const int64_t size = stack.rows * stack.columns;
    for (int64_t i = 0; i < product(stack.batch, 0, stack.batch.size()); ++i)
        tables.push_back(saturationTable({ codesOf(b).from(i * size), stack.rows, stack.columns, stack.columns, 1 }));
    return tables;
}

PackedStack packStack(const Tensor& b, const Stack& stack, const std::vector<int32_t>& zeros)
{
    PackedStack packed;
    const int64_t size = stack.rows * stack.columns;
    for (int64_t i = 0; i < product(stack.batch, 0, stack.batch.size()); ++i)
        packed.emplace_back(CodeMatrix { codesOf(b).from(i * size), stack.rows, stack.columns, stack.columns, 1 },
            entriesOf(zeros, stack.columns, i));
    return packed;
}

constexpr int64_t kRowsTogether = 16; ///< a multiple of the rows that the kernels take at a time

/// The part of none, one, or one number a row that belongs to some rows.
std::span<const int32_t> rowsOf(std::span<const int32_t> numbers, int64_t first, int64_t rows)
{
    return numbers.size() <= 1 ? numbers : numbers.subspan(static_cast<size_t>(first), static_cast<size_t>(rows));
}

/// What could be prepared of a right operand before running, and how to multiply with it.
struct RightSide {
    KernelMode mode = KernelMode::Fast;
    PairSaturation saturation = PairSaturation::None;
    std::optional<PackedStack> packed;
    std::optional<std::vector<SaturationTable>> tables;
};
using RightPtr = std::shared_ptr<const RightSide>;

/// Packs b when it and its zero point are constants (an absent zero point is one).
RightPtr prepareRight(const LowerContext& c, size_t bSlot, size_t zeroSlot)
{
    auto right = std::make_shared<RightSide>(RightSide { c.mode, c.saturation, {}, {} });
    const Tensor* b = c.constant(bSlot);
    const bool zeroGiven = c.node.hasInput(zeroSlot);
    if (!b || !isCode(b->dtype()) || b->rank() < 1 || (zeroGiven && !c.constant(zeroSlot)))
        return right;
    const auto shape = stackedProduct({ b->rank() == 1 ? b->dim(0) : b->dim(b->rank() - 2) }, b->shape());
    const auto zeros = zeroPointsOf(zeroGiven ? c.constant(zeroSlot) : nullptr);
    if (!shape.ok() || !checkEntries(zeros, shape->b, shape->b.columns, "").ok())
        return right;
    if (c.mode == KernelMode::Fast)
        right->packed = packStack(*b, shape->b, zeros);
    if (c.saturation != PairSaturation::None && b->dtype() == DType::Int8)
        right->tables = saturationTables(*b, shape->b);
    return right;
}

/// Operands of one product as the nodes give them.
struct Operands {
    const Tensor *a, *b;
    std::vector<int32_t> aZero, bZero;
};

/// Turns exact sums into saturated ones where the right side says so.
void saturateSums(
    const Operands& o, const StackedProduct& p, const RightSide& right, const StepContext& s, int32_t* sums)
{
    if (!saturates(right.saturation, o.a->dtype(), o.b->dtype()))
        return;
    const std::vector<SaturationTable> tables = right.tables ? *right.tables : saturationTables(*o.b, p.b);
    const auto shift = static_cast<uint8_t>(leftShift(right.saturation));
    std::vector<uint8_t> row(static_cast<size_t>(p.a.columns));
    std::vector<uint64_t> saturated(static_cast<size_t>(p.b.columns));
    const int64_t matrices = product(p.batch, 0, p.batch.size());
    for (int64_t i = 0; i < matrices; ++i) {
        const uint8_t* a = codesOf(*o.a).data + batchIndex(p.batch, p.a.batch, i) * p.a.rows * p.a.columns;
        const auto& table = tables[static_cast<size_t>(batchIndex(p.batch, p.b.batch, i))];
        for (int64_t r = 0; r < p.a.rows; ++r) {
            std::transform(a + r * p.a.columns, a + (r + 1) * p.a.columns, row.begin(),
                [&](uint8_t code) { return static_cast<uint8_t>(code + shift); });
            saturatePairs(table, row.data(), sums + (i * p.a.rows + r) * p.b.columns, saturated.data());
        }
    }
    countPairs(s, matrices * p.a.rows, p.a.columns, saturated);
}

/// Sums of a batched product, row after row of the output.
Status sumProduct(
    const Operands& o, const StackedProduct& p, const RightSide& right, const StepContext& s, int32_t* sums)
{
    QS_CHECK(checkCodes(*o.a, "a left matrix"));
    QS_CHECK(checkCodes(*o.b, "a right matrix"));
    QS_CHECK(checkEntries(o.aZero, p.a, p.a.rows, "the left zero point"));
    QS_CHECK(checkEntries(o.bZero, p.b, p.b.columns, "the right zero point"));
    PackedStack own;
    if (!right.packed && right.mode == KernelMode::Fast)
        own = packStack(*o.b, p.b, o.bZero);
    const PackedStack& ready = right.packed ? *right.packed : own;
    const int64_t size = p.a.rows * p.b.columns;
    const RowParts parts(s, p.a.rows, kRowsTogether, p.a.columns * p.b.columns);
    const int64_t scratchBytes = ready.empty() ? 0 : (ready[0].scratchBytes(p.a.rows) + 63) / 64 * 64;
    Tensor scratch = s.allocate(DType::UInt8, { scratchBytes * static_cast<int64_t>(parts.workers()) });
    for (int64_t i = 0; i < product(p.batch, 0, p.batch.size()); ++i) {
        const int64_t ia = batchIndex(p.batch, p.a.batch, i), ib = batchIndex(p.batch, p.b.batch, i);
        const Codes a = codesOf(*o.a).from(ia * p.a.rows * p.a.columns);
        const auto zeros = entriesOf(o.aZero, p.a.rows, ia);
        if (right.mode == KernelMode::Reference) {
            const Codes b = codesOf(*o.b).from(ib * p.b.rows * p.b.columns);
            multiplyReference({ a, p.a.rows, p.a.columns, p.a.columns, 1 }, zeros,
                { b, p.b.rows, p.b.columns, p.b.columns, 1 }, entriesOf(o.bZero, p.b.columns, ib), sums + i * size);
            continue;
        }
        parts.run(s, [&](int64_t first, int64_t rows, size_t worker) {
            ready[static_cast<size_t>(ib)].sums(a.from(first * p.a.columns), rows, rowsOf(zeros, first, rows),
                writable(scratch) + static_cast<int64_t>(worker) * scratchBytes, sums + i * size + first * p.b.columns);
        });
    }
    saturateSums(o, p, right, s, sums);
    return {};
}

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
    const RightPtr right = prepareRight(c, 1, 3);
    return productNode(c, [right](StepContext& s) -> Status {
        QS_CHECK(needInputs(s, 2));
        QS_TRY(const StackedProduct p, stackedProduct(s.in(0).shape(), s.in(1).shape()));
        const Operands o { &s.in(0), &s.in(1), zeroPointsOf(s.input(2)), zeroPointsOf(s.input(3)) };
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
    const RowFinish finish { mode, codes, p.b.columns, scale, multiplier, {}, out.fill<uint8_t>().data(),
        s.wantsUnrounded() ? unrounded.fill<float>().data() : nullptr };
    for (int64_t i = 0; i < product(p.batch, 0, p.batch.size()); ++i) {
        const auto as = entriesOf(aScale, p.a.rows, batchIndex(p.batch, p.a.batch, i));
        const auto bs = entriesOf(bScale, p.b.columns, batchIndex(p.batch, p.b.batch, i));
        const int64_t step = as.size() == 1 ? p.a.rows : 1;
        for (int64_t r = 0; r < p.a.rows; r += step) {
            fillScales(as, bs, r, nullptr, 1.0f, scale);
            fillScales(as, bs, r, &codes.scale, 1.0f, multiplier);
            const int64_t first = i * p.a.rows + r;
            finishRows(finish, sums.data<int32_t>().data() + first * p.b.columns, first, step);
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
Result<Tensor> directCodes(StepContext& s, const Operands& o, const StackedProduct& p, const RightSide& right,
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
    const RightPtr right = prepareRight(c, 3, 5);
    LoweredNode node = productNode(c, [right](StepContext& s) -> Status {
        QS_CHECK(needInputs(s, 7));
        QS_TRY(const StackedProduct p, stackedProduct(s.in(0).shape(), s.in(3).shape()));
        QS_TRY(const OutputCodes codes, outputCodes(s, 6, 7, s.in(0).dtype()));
        const Operands o { &s.in(0), &s.in(3), zeroPointsOf(s.input(2)), zeroPointsOf(s.input(5)) };
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
    for (int64_t r = 0; r < t.dim(0); ++r)
        for (int64_t c = 0; c < t.dim(1); ++c)
            out.fill<uint8_t>()[static_cast<size_t>(c * t.dim(0) + r)]
                = t.data<uint8_t>()[static_cast<size_t>(r * t.dim(1) + c)];
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

Status runQGemm(const Node& node, const Tensor* constantB, const RightSide& right, StepContext& s)
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
    const Operands o { &a, &b, zeroPointsOf(s.input(2)), zeroPointsOf(s.input(5)) };
    const float alpha = node.attributes.real("alpha", 1);
    ProductNumbers numbers { toFloats(s.in(1)), toFloats(s.in(4)), s.input(6) };
    if (numbers.aScale.size() != 1)
        return badInput("the left scale must be one number");
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
    const RightPtr right = prepareRight(turned, 3, 5);
    LoweredNode node
        = productNode(c, [right, b, n = &c.node](StepContext& s) { return runQGemm(*n, b.get(), *right, s); });
    node.offersUnrounded = c.node.hasInput(7);
    return node;
}

/// Sums to floats: f32(sum) * (as * bs[column]) + bias.
Status productToFloat(StepContext& s, const Operands& o, const std::vector<float>& aScale,
    const std::vector<float>& bScale, const Tensor* bias, const RightSide& right)
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
    const RightPtr right = prepareRight(c, 1, 5);
    return productNode(c, [right](StepContext& s) -> Status {
        QS_CHECK(needInputs(s, 4));
        const Operands o { &s.in(0), &s.in(1), zeroPointsOf(s.input(4)), zeroPointsOf(s.input(5)) };
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
    const RightPtr right = prepareRight(c, 1, 3);
    return productNode(c, [right](StepContext& s) -> Status {
        QS_CHECK(needInputs(s, 3));
        if (s.in(0).dtype() != DType::Float32)
            return badInput("the left matrix must be float32");
        const DynamicCodes a = quantizeDynamically(s);
        const Operands o { &a.codes, &s.in(1), { a.zeroPoint }, zeroPointsOf(s.input(3)) };
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
    lowerIntegerConv(r);
}

} // namespace qs
