// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/product/stacked_product.h"

#include "core/engine/lower/common/element_types.h"
#include "core/engine/lower/common/row_parts.h"

#include <algorithm>

namespace qs {

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

namespace {

std::vector<SaturationTable> saturationTables(const Tensor& b, const MatrixStack& stack)
{
    std::vector<SaturationTable> tables;
    const int64_t size = stack.rows * stack.columns;
    for (int64_t i = 0; i < product(stack.batch, 0, stack.batch.size()); ++i)
        tables.push_back(saturationTable({ codesOf(b).from(i * size), stack.rows, stack.columns, stack.columns, 1 }));
    return tables;
}

PackedStack packStack(const Tensor& b, const MatrixStack& stack, const std::vector<int32_t>& zeros)
{
    PackedStack packed;
    const int64_t size = stack.rows * stack.columns;
    for (int64_t i = 0; i < product(stack.batch, 0, stack.batch.size()); ++i)
        packed.emplace_back(CodeMatrix { codesOf(b).from(i * size), stack.rows, stack.columns, stack.columns, 1 },
            entriesOf(zeros, stack.columns, i));
    return packed;
}

/// The part of none, one, or one number a row that belongs to some rows.
std::span<const int32_t> rowsOf(std::span<const int32_t> numbers, int64_t first, int64_t rows)
{
    return numbers.size() <= 1 ? numbers : numbers.subspan(static_cast<size_t>(first), static_cast<size_t>(rows));
}

/// Turns exact sums into saturated ones where the right side says so.
void saturateSums(
    const CodeOperands& o, const StackedProduct& p, const RightCodes& right, const StepContext& s, int32_t* sums)
{
    if (!saturates(right.saturation, o.a->dtype(), o.b->dtype()))
        return;
    const std::vector<SaturationTable> tables = right.tables ? *right.tables : saturationTables(*o.b, p.b);
    const auto shift = static_cast<uint8_t>(leftShift(right.saturation));
    std::vector<uint8_t> row(static_cast<size_t>(p.a.columns));
    std::vector<uint64_t> saturated(static_cast<size_t>(p.b.columns));
    SaturationTally tally { saturated, {} };
    const int64_t matrices = product(p.batch, 0, p.batch.size());
    for (int64_t i = 0; i < matrices; ++i) {
        const uint8_t* a = codesOf(*o.a).data + batchIndex(p.batch, p.a.batch, i) * p.a.rows * p.a.columns;
        const auto& table = tables[static_cast<size_t>(batchIndex(p.batch, p.b.batch, i))];
        for (int64_t r = 0; r < p.a.rows; ++r) {
            std::transform(a + r * p.a.columns, a + (r + 1) * p.a.columns, row.begin(),
                [&](uint8_t code) { return static_cast<uint8_t>(code + shift); });
            saturatePairs(table, row.data(), sums + (i * p.a.rows + r) * p.b.columns, tally);
        }
    }
    countPairs(s, matrices * p.a.rows, p.a.columns, tally);
}

} // namespace

RightCodesPtr prepareRight(const LowerContext& c, size_t bSlot, size_t zeroSlot)
{
    auto right = std::make_shared<RightCodes>(RightCodes { c.mode, c.saturation, {}, {} });
    const Tensor* b = c.constant(bSlot);
    const bool zeroGiven = c.node.hasInput(zeroSlot);
    if (!b || !isCode(b->dtype()) || b->rank() < 1 || (zeroGiven && !c.constant(zeroSlot)))
        return right;
    const auto shape = stackedProduct({ b->rank() == 1 ? b->dim(0) : b->dim(b->rank() - 2) }, b->shape());
    const auto zeros = zeroPointsOf(zeroGiven ? c.constant(zeroSlot) : nullptr);
    if (!shape.ok() || !checkEntries(zeros, shape->b, shape->b.columns, "").ok())
        return right;
    if (c.mode == KernelMode::Fast)
        right->packed
            = AtFirstRun<PackedStack>([b = *b, stack = shape->b, zeros] { return packStack(b, stack, zeros); });
    if (c.saturation != PairSaturation::None && b->dtype() == DType::Int8)
        right->tables = AtFirstRun<std::vector<SaturationTable>>(
            [b = *b, stack = shape->b] { return saturationTables(b, stack); });
    return right;
}

Status sumProduct(
    const CodeOperands& o, const StackedProduct& p, const RightCodes& right, const StepContext& s, int32_t* sums)
{
    QS_CHECK(checkCodes(*o.a, "a left matrix"));
    QS_CHECK(checkCodes(*o.b, "a right matrix"));
    QS_CHECK(checkEntries(o.aZero, p.a, p.a.rows, "the left zero point"));
    QS_CHECK(checkEntries(o.bZero, p.b, p.b.columns, "the right zero point"));
    if (elementCount(p.out).value_or(0) == 0)
        return {}; // of however many matrices
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

} // namespace qs
