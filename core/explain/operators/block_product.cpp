// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/explain/operators/operation.h"
#include "core/graph/domains.h"
#include "core/kernels/blocks/block_codes.h"
#include "core/tensor/convert.h"
#include "core/tensor/packed_rows.h"

#include <algorithm>
#include <cmath>

/// Products with weights that are stored in blocks: MatMulNBits.
namespace qs {

namespace {

/// One column of such a weight.
struct BlockColumn {
    int64_t depth = 0, columns = 0, bits = 4, blockSize = 0, blocks = 0;
    std::vector<uint8_t> codes; ///< blocks * blockSize
    std::vector<double> scale, zero; ///< by block
    std::vector<int64_t> group; ///< by element of the depth; empty: in order
    bool wholeZeros = true;
    size_t blockOf(int64_t k) const { return size_t(group.empty() ? k / blockSize : group[size_t(k)]); }
};

std::optional<BlockColumn> columnOf(const Operation& op, int64_t element)
{
    const Attributes& a = op.node->attributes;
    BlockColumn c;
    c.depth = a.integer("K", 0);
    c.columns = a.integer("N", 0);
    c.bits = a.integer("bits", 4);
    c.blockSize = a.integer("block_size", 0);
    if (c.depth < 1 || c.columns < 1 || c.blockSize < 16 || !op.in(0) || !op.in(1) || !op.in(2)
        || (c.bits != 2 && c.bits != 4 && c.bits != 8))
        return std::nullopt;
    c.blocks = (c.depth + c.blockSize - 1) / c.blockSize;
    const int64_t column = element % c.columns, bytes = packedRowBytes(c.blocks * c.blockSize, c.bits);
    if (op.inputs[1].dtype() != DType::UInt8 || op.inputs[1].count() < bytes * c.columns
        || op.inputs[2].count() != c.blocks * c.columns)
        return std::nullopt;
    c.codes = unpackRows(
        op.inputs[1].data<uint8_t>().subspan(size_t(column * bytes), size_t(bytes)), 1, c.blocks * c.blockSize, c.bits);
    for (int64_t b = 0; b < c.blocks; ++b)
        c.scale.push_back(elementAsDouble(op.inputs[2], column * c.blocks + b));
    c.zero.assign(size_t(c.blocks), double(1 << (c.bits - 1)));
    if (const Tensor* zero = op.in(3); zero && isFloat(zero->dtype())) {
        c.wholeZeros = false;
        for (int64_t b = 0; b < c.blocks; ++b)
            c.zero[size_t(b)] = elementAsDouble(*zero, column * c.blocks + b);
    } else if (zero) {
        const int64_t row = packedRowBytes(c.blocks, c.bits);
        const auto zeros
            = unpackRows(zero->data<uint8_t>().subspan(size_t(column * row), size_t(row)), 1, c.blocks, c.bits);
        c.zero.assign(zeros.begin(), zeros.end());
    }
    if (op.in(4))
        c.group = toInts(op.inputs[4]);
    return c;
}

/// The row of activations as the operator multiplies it: floats, or with 8-bit blocks their codes.
struct BlockRow {
    std::vector<float> floats;
    std::vector<int8_t> codes;
    std::vector<float> scale; ///< by block of `size` elements
    int64_t size = 1;
};

BlockRow rowOf(const Operation& op, const BlockColumn& c, int64_t element)
{
    BlockRow row;
    const int64_t first = element / c.columns * c.depth;
    for (int64_t k = 0; k < c.depth; ++k)
        row.floats.push_back(static_cast<float>(elementAsDouble(op.inputs[0], first + k)));
    const int64_t size = codedRowBlock(c.bits, c.blockSize);
    if (op.node->attributes.integer("accuracy_level", 0) == 4 && c.group.empty() && c.wholeZeros && size > 0) {
        row.size = size;
        row.codes.resize(size_t(c.blocks * c.blockSize));
        row.scale.resize(row.codes.size() / size_t(size));
        quantizeBlocks(row.floats.data(), c.depth, size, row.codes.data(), row.scale.data());
    }
    return row;
}

ElementTerm termAt(const Operation& op, const BlockColumn& c, const BlockRow& row, int64_t element, int64_t k)
{
    const size_t block = c.blockOf(k);
    ElementTerm term;
    term.a = operandAt(op, 0, element / c.columns * c.depth + k);
    if (!row.codes.empty()) {
        term.a.code = row.codes[size_t(k)];
        const float scale = row.scale[size_t(k / row.size)];
        term.a.scale = double(scale);
        term.a.real = double(float(row.codes[size_t(k)]) * scale);
    }
    Operand b;
    b.source = 1;
    b.element = element % c.columns * c.depth + k;
    b.real = double((float(c.codes[size_t(k)]) - float(c.zero[block])) * float(c.scale[block]));
    if (c.wholeZeros) {
        b.code = c.codes[size_t(k)];
        b.zeroPoint = int64_t(c.zero[block]);
        b.scale = c.scale[block];
        if (term.a.code)
            term.product = *term.a.code * (*b.code - b.zeroPoint);
    }
    term.b = b;
    return term;
}

} // namespace

bool explainBlockProduct(const Operation& op, int64_t element, ElementExplanation& e)
{
    const auto column = op.node->is("MatMulNBits", kMicrosoftDomain) ? columnOf(op, element) : std::nullopt;
    if (!column)
        return false;
    const BlockRow row = rowOf(op, *column, element);
    e.kind = ElementExplanation::Kind::Float;
    e.relation = Relation::Products;
    e.sources[1].shape = { column->columns, column->depth };
    std::vector<int64_t> sums(std::max<size_t>(row.scale.size(), 1), 0); // by block of the row's codes
    double sum = 0, size = 0;
    for (int64_t k = 0; k < column->depth; ++k) {
        ElementTerm term = termAt(op, *column, row, element, k);
        sums[size_t(row.codes.empty() ? 0 : k / row.size)] += term.product.value_or(0);
        sum += term.a.real * term.b->real;
        size += std::abs(term.a.real * term.b->real);
        e.terms.push_back(std::move(term));
    }
    e.steps.push_back({ "sum of products", sum });
    float value = static_cast<float>(sum);
    if (!row.codes.empty()) {
        double total = 0;
        for (size_t b = 0; b < sums.size(); ++b)
            total += double(row.scale[b])
                * double(float(column->scale[b * size_t(row.size) / size_t(column->blockSize)])) * double(sums[b]);
        value = static_cast<float>(total);
        e.steps.push_back(
            { "sum of blocks: activation scale * weight scale * sum of products of codes", double(value) });
    }
    if (op.in(5)) {
        e.bias = operandAt(op, 5, element % column->columns);
        value += static_cast<float>(e.bias->real);
        e.steps.push_back({ "plus bias", double(value) });
    }
    const double made = elementAsDouble(op.output, element);
    e.steps.push_back({ "as the engine sums it", made });
    e.confirmed = !row.codes.empty() && op.output.dtype() == DType::Float32 ? double(value) == made
                                                                            : std::abs(made - double(value))
            <= 1e-6 * (size + std::abs(made)) + 1e-2 * (op.output.dtype() != DType::Float32) * size;
    return true;
}

} // namespace qs
