// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/qdq/block_weights.h"

#include "core/graph/domains.h"
#include "core/tensor/convert.h"
#include "core/tensor/packed_rows.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

namespace qs {

namespace {

constexpr size_t kZeroPoints = 3; ///< input of MatMulNBits and GatherBlockQuantized

DType codeType(int64_t bits) { return bits == 2 ? DType::UInt2 : bits == 4 ? DType::UInt4 : DType::UInt8; }

/// Unsigned codes from rows of bytes; nullopt when they do not fit.
std::optional<Tensor> codesFrom(const Tensor& bytes, Shape shape, int64_t bits)
{
    const auto count = elementCount(shape);
    if (bytes.dtype() != DType::UInt8 || shape.empty() || !count || *count == 0)
        return std::nullopt;
    const int64_t columns = shape.back(), rows = *count / columns;
    if (bytes.count() < rows * packedRowBytes(columns, bits))
        return std::nullopt;
    if (columns * bits % 8 == 0) // as tensors of such codes lie in memory
        return Tensor::wrap(
            codeType(bits), std::move(shape), bytes.bytes().data(), std::make_shared<const Tensor>(bytes));
    const Tensor whole = Tensor::of<uint8_t>(std::move(shape), unpackRows(bytes.data<uint8_t>(), rows, columns, bits));
    return bits == 8 ? whole : packedAs(whole, codeType(bits));
}

const Tensor* input(const Node& node, const ConstantLookup& constants, size_t slot)
{
    return node.hasInput(slot) ? constants(node.inputs[slot]) : nullptr;
}

/// Zero points between codes, as hqq finds them; false where they are not as many, or none that codes have.
bool readRealZeroPoints(const Tensor& zero, QuantParams& params)
{
    const std::vector<float> values = toFloats(zero);
    const auto isPlace = [](float z) { return std::fabs(z) < 1e6f; };
    if (values.size() != params.zeroPoint.size() || !std::ranges::all_of(values, isPlace))
        return false;
    for (size_t i = 0; i < values.size(); ++i) {
        params.zeroPoint[i] = static_cast<int32_t>(std::nearbyint(values[i]));
        params.zeroRest.push_back(values[i] - static_cast<float>(params.zeroPoint[i]));
    }
    return true;
}

/// Zero points of `shape`; the usual one without such an input.
bool readZeroPoints(const Node& node, const ConstantLookup& constants, size_t slot, const Shape& shape, int64_t bits,
    int32_t usual, QuantParams& params)
{
    std::vector<int32_t>& out = params.zeroPoint;
    out.assign(static_cast<size_t>(elementCount(shape).value_or(0)), usual);
    if (!node.hasInput(slot))
        return true;
    const Tensor* zero = constants(node.inputs[slot]);
    if (!zero)
        return false;
    if (isFloat(zero->dtype()))
        return readRealZeroPoints(*zero, params);
    std::optional<Tensor> codes = *zero;
    if (zero->dtype() == DType::UInt8)
        codes = codesFrom(*zero, shape, bits);
    if (!codes || !isInteger(codes->dtype()) || static_cast<size_t>(codes->count()) != out.size())
        return false;
    const auto values = toInts(*codes);
    std::ranges::copy(values, out.begin());
    return true;
}

bool knownBits(int64_t bits) { return bits == 2 || bits == 4 || bits == 8; }

/// The last block is filled up: the first `depth` codes of each row.
Tensor withoutFilling(const Tensor& all, int64_t depth)
{
    const Tensor padded = unpacked(all);
    const int64_t rows = all.dim(0), each = all.dim(1);
    const auto from = padded.data<uint8_t>();
    std::vector<uint8_t> codes;
    codes.reserve(static_cast<size_t>(rows * depth));
    for (int64_t row = 0; row < rows; ++row)
        codes.insert(codes.end(), from.begin() + row * each, from.begin() + row * each + depth);
    const Tensor bytes = Tensor::of<uint8_t>({ rows, depth }, codes);
    return all.dtype() == DType::UInt8 ? bytes : packedAs(bytes, all.dtype());
}

std::optional<BlockWeight> matMulWeight(const Node& node, const ConstantLookup& constants)
{
    const Attributes& a = node.attributes;
    const int64_t depth = a.integer("K", 0), columns = a.integer("N", 0), block = a.integer("block_size", 0);
    const int64_t bits = a.integer("bits", 4);
    const Tensor *bytes = input(node, constants, 1), *scale = input(node, constants, 2);
    if (!bytes || !scale || node.hasInput(4) || depth < 1 || columns < 1 || block < 16 || !knownBits(bits))
        return std::nullopt;
    const int64_t blocks = (depth + block - 1) / block;
    if (scale->count() != columns * blocks || !isFloat(scale->dtype()))
        return std::nullopt;
    const auto all = codesFrom(*bytes, { columns, blocks * block }, bits);
    BlockWeight w { 1, {}, {} };
    if (!all || !readZeroPoints(node, constants, kZeroPoints, { columns, blocks }, bits, 1 << (bits - 1), w.params))
        return std::nullopt;
    w.codes = blocks * block == depth ? *all : withoutFilling(*all, depth);
    w.params.dtype = codeType(bits);
    w.params.scale = toFloats(*scale);
    w.params.axis = 1;
    w.params.blockSize = block;
    return w;
}

std::optional<BlockWeight> tableWeight(const Node& node, const ConstantLookup& constants)
{
    const Attributes& a = node.attributes;
    const Tensor *data = input(node, constants, 0), *scale = input(node, constants, 2);
    const int64_t bits = a.integer("bits", 4), block = a.integer("block_size", 128);
    if (!data || !scale || data->rank() == 0 || !knownBits(bits) || block < 1 || !isInteger(data->dtype()))
        return std::nullopt;
    const bool bytes = data->dtype() == DType::UInt8;
    BlockWeight w { 0, *data, {} };
    if (bytes) {
        Shape shape = data->shape();
        shape.back() *= 8 / bits;
        const auto codes = codesFrom(*data, shape, bits);
        if (!codes)
            return std::nullopt;
        w.codes = *codes;
    }
    const auto axis = normalizedAxis(a.integer("quantize_axis", 1), w.codes.rank());
    if (!axis)
        return std::nullopt;
    Shape blocked = w.codes.shape();
    blocked[*axis] = (blocked[*axis] + block - 1) / block;
    const int32_t usual = bytes ? 1 << (bits - 1) : 0;
    if (scale->shape() != blocked || !isFloat(scale->dtype())
        || !readZeroPoints(node, constants, kZeroPoints, blocked, bits, usual, w.params))
        return std::nullopt;
    w.params.dtype = w.codes.dtype();
    w.params.scale = toFloats(*scale);
    w.params.axis = static_cast<int64_t>(*axis);
    w.params.blockSize = block;
    return w;
}

/// One of the three products that the experts of a QMoE have: a scale for each row of each expert, or for each block of
/// it.
std::optional<BlockWeight> expertWeight(const Node& node, const ConstantLookup& constants, size_t part)
{
    const auto [plain, slot, scales, zeroPoints] = kExpertSlots[part];
    const Attributes& a = node.attributes;
    const int64_t bits
        = a.integer("fc" + std::to_string(part + 1) + "_expert_weight_bits", a.integer("expert_weight_bits", 4));
    const Tensor *bytes = input(node, constants, slot), *scale = input(node, constants, scales);
    if (!bytes || !scale || bytes->rank() != 3 || bytes->count() == 0 || !knownBits(bits) || !isFloat(scale->dtype())
        || a.text("quant_type", "int") != "int" || a.integer("weights_prepacked", -1) == 1)
        return std::nullopt;
    const int64_t experts = bytes->dim(0), rows = bytes->dim(1), depth = bytes->dim(2) * (8 / bits);
    const int64_t block = a.integer("block_size", 0) > 0 ? std::min(a.integer("block_size", 0), depth) : depth;
    const auto codes = codesFrom(*bytes, { experts, rows, depth }, bits);
    if (!codes)
        return std::nullopt;
    const int64_t blocks = (depth + block - 1) / block;
    // Of whole rows they lie packed row by row.
    const Shape zeros = a.integer("block_size", 0) > 0 ? Shape { experts, rows, blocks } : Shape { experts, rows };
    BlockWeight w { slot, *codes, {} };
    if (scale->count() != experts * rows * blocks
        || !readZeroPoints(node, constants, zeroPoints, zeros, bits, 1 << (bits - 1), w.params))
        return std::nullopt;
    w.params.dtype = codeType(bits);
    w.params.scale = toFloats(*scale);
    w.params.axis = 2;
    w.params.blockSize = block;
    return w;
}

} // namespace

std::vector<BlockWeight> blockWeights(const Node& node, const ConstantLookup& constants)
{
    std::vector<BlockWeight> found;
    const auto add = [&](std::optional<BlockWeight> weight) {
        if (weight)
            found.push_back(std::move(*weight));
    };
    if (node.is("MatMulNBits", kMicrosoftDomain))
        add(matMulWeight(node, constants));
    if (node.is("GatherBlockQuantized", kMicrosoftDomain))
        add(tableWeight(node, constants));
    if (node.is("QMoE", kMicrosoftDomain))
        for (const size_t part : { 0, 1, 2 })
            add(expertWeight(node, constants, part));
    return found;
}

} // namespace qs
