// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/fuse/unit_builder.h"

#include "core/graph/domains.h"
#include "core/qdq/qlinear_signature.h"
#include "core/tensor/convert.h"
#include "core/tensor/packed_rows.h"

#include <algorithm>
#include <bit>
#include <cmath>

/// Products of floats with a stored weight behind a DequantizeLinear, of which ONNX Runtime makes MatMulNBits with
/// 8-bit rows (accuracy level 4). Source: its documentation, measured on graphs that 1.31 and 1.32 optimized.
namespace qs {

namespace {

/// A weight as MatMulNBits stores it.
struct StoredBlocks {
    Attributes attributes;
    Tensor codes, scale, zeroPoint; ///< zeroPoint is invalid where it is the middle
};

constexpr size_t kPairedBits = 8;
constexpr int64_t kBlockOfWholeRows = 32; ///< where the file has one scale for all, or for each column

/// A weight as the file has it.
struct FileWeight {
    const Tensor &weight, &scale;
    const Tensor* zero;
    bool transposed; ///< columns x depth, else depth x columns
    int64_t depth() const { return weight.dim(transposed ? 1 : 0); }
    int64_t columns() const { return weight.dim(transposed ? 0 : 1); }
    size_t codeAt(int64_t k, int64_t column) const
    {
        return static_cast<size_t>(transposed ? column * depth() + k : k * columns() + column);
    }
};

/// What its blocks are; nullopt where the runtime does not take them.
std::optional<int64_t> blockSizeOf(const Node& dequantize, const FileWeight& w)
{
    const Attributes& a = dequantize.attributes;
    const int64_t size = a.integer("block_size", 0), axis = a.integer("axis", 1);
    if (w.zero && (w.zero->shape() != w.scale.shape() || w.zero->dtype() != w.weight.dtype()))
        return std::nullopt;
    if (size <= 0) {
        const bool ofColumns = w.transposed ? axis == 0 || axis == -2 : axis == 1;
        const bool perColumn = w.scale.rank() == 1 && w.scale.dim(0) == w.columns() && ofColumns;
        return w.scale.rank() == 0 || perColumn ? std::optional(kBlockOfWholeRows) : std::nullopt;
    }
    const bool fits = size >= 16 && size <= std::max<int64_t>(16, int64_t(std::bit_ceil(uint64_t(w.depth()))))
        && std::has_single_bit(static_cast<uint64_t>(size)) && axis == 0 && !w.transposed
        && w.scale.shape() == Shape { (w.depth() + size - 1) / size, w.columns() };
    return fits ? std::optional(size) : std::nullopt;
}

/// Codes without a sign, one a byte.
std::vector<uint8_t> unsignedCodes(const Tensor& t)
{
    const auto bits = static_cast<int64_t>(dtypeBits(t.dtype()));
    std::vector<uint8_t> codes = unpackRows({ t.data<uint8_t>().data(), t.byteCount() }, 1, t.count(), bits);
    if (isSigned(t.dtype()))
        for (uint8_t& code : codes)
            code = static_cast<uint8_t>(code ^ (1 << (bits - 1)));
    return codes;
}

/// One value for each block of each column, columns x blocks; `of(i)` is number i of the file.
template <class T, class Of> std::vector<T> byBlock(const Tensor& scale, int64_t columns, int64_t blocks, Of of)
{
    std::vector<T> list;
    list.reserve(static_cast<size_t>(columns * blocks));
    for (int64_t column = 0; column < columns; ++column)
        for (int64_t block = 0; block < blocks; ++block)
            list.push_back(of(static_cast<size_t>(scale.rank() == 0 ? 0
                    : scale.rank() == 1                             ? column
                                                                    : block * columns + column)));
    return list;
}

Tensor bytesOf(const std::vector<uint8_t>& bytes) { return Tensor::of<uint8_t>({ int64_t(bytes.size()) }, bytes); }

StoredBlocks storedBlocks(const FileWeight& w, int64_t blockSize)
{
    const int64_t depth = w.depth(), columns = w.columns(), blocks = (depth + blockSize - 1) / blockSize;
    const auto bits = static_cast<int64_t>(dtypeBits(w.weight.dtype()));
    StoredBlocks s;
    for (const auto& [name, value] : { std::pair { "K", depth }, { "N", columns }, { "bits", bits },
             { "block_size", blockSize }, { "accuracy_level", int64_t(4) } })
        s.attributes.set(name, value);
    const auto stored = unsignedCodes(w.weight);
    std::vector<uint8_t> codes(static_cast<size_t>(columns * blocks * blockSize));
    for (int64_t k = 0; k < depth; ++k)
        for (int64_t column = 0; column < columns; ++column)
            codes[static_cast<size_t>(column * blocks * blockSize + k)] = stored[w.codeAt(k, column)];
    s.codes = bytesOf(packRows(codes, columns, blocks * blockSize, bits));
    const auto scales = toFloats(w.scale);
    s.scale = Tensor::of<float>(
        { columns * blocks }, byBlock<float>(w.scale, columns, blocks, [&](size_t i) { return scales[i]; }));
    if (w.zero || !isSigned(w.weight.dtype())) {
        const auto zeros = w.zero ? unsignedCodes(*w.zero) : std::vector<uint8_t>(static_cast<size_t>(w.scale.count()));
        const auto spread = byBlock<uint8_t>(w.scale, columns, blocks, [&](size_t i) { return zeros[i]; });
        s.zeroPoint = bytesOf(packRows(spread, columns, blocks, bits));
    }
    return s;
}

bool isOne(float v) { return std::abs(v - 1.0f) <= 1e-6f; }

} // namespace

/// The DequantizeLinear of the second factor, when that is a constant matrix of 2, 4 or 8 bits that nobody else reads,
/// neither dequantized nor as codes nor its scale. Of 8 bits it may be turned before a MatMul.
UnitBuilder::StoredWeight UnitBuilder::storedWeight() const
{
    StoredWeight found;
    ValueId real = node().inputs[1];
    NodeId reader = m_op, by = graph().value(m_qdq.source(real)).producer;
    if (by.valid() && graph().node(by).is("Transpose") && graph().node(by).hasInput(0) && node().opType == "MatMul"
        && graph().node(by).attributes.integers("perm") == std::vector<int64_t> { 1, 0 }
        && m_qdq.onlyReader(m_qdq.source(real)) == m_op) {
        reader = by;
        real = graph().node(by).inputs[0];
        by = graph().value(m_qdq.source(real)).producer;
        found.transposed = true;
    }
    if (!by.valid() || !m_qdq.lowered().step(by).lowered || !isDequantizeLinear(graph().node(by))
        || m_qdq.onlyReader(m_qdq.source(real)) != reader)
        return {};
    const Node& dq = graph().node(by);
    if (!dq.hasInput(0) || !dq.hasInput(1) || (dq.hasInput(2) && !constant(dq.inputs[2])))
        return {};
    for (const ValueId id : { dq.inputs[0], dq.inputs[1] }) {
        const auto readers = m_qdq.uses(id);
        if (!constant(id) || m_qdq.escapes(id) || std::ranges::any_of(readers, [&](const Use& use) {
                return use.node != by
                    && (isDequantizeLinear(graph().node(use.node)) || !m_qdq.lowered().step(use.node).folded);
            }))
            return {};
    }
    const Tensor &weight = *constant(dq.inputs[0]), &scale = *constant(dq.inputs[1]);
    const bool fits = weight.rank() == 2 && weight.count() > 0 && isInteger(weight.dtype())
        && dtypeBits(weight.dtype()) <= 8 && (scale.dtype() == DType::Float32 || scale.dtype() == DType::Float16);
    if (fits && (!found.transposed || dtypeBits(weight.dtype()) == 8))
        found.by = by;
    return found;
}

/// Codes of 8 bits (the runtime pairs no others with a stored weight) come in or go out: at the other factor's
/// DequantizeLinear, or behind the product (with its Add, when the runtime makes a Gemm of both). A Relu or Clip with
/// one reader ends the runtime's search as a QuantizeLinear does.
bool UnitBuilder::codedAround() const
{
    const NodeId left = graph().value(m_qdq.source(node().inputs[0])).producer;
    const bool dequantized = left.valid() && isDequantizeLinear(graph().node(left)) && graph().node(left).hasInput(0);
    if (dequantized && dtypeBits(m_qdq.lowered().facts().of(graph().node(left).inputs[0]).dtype) <= kPairedBits)
        return true;
    const auto codes = m_qdq.codesOf(node().inputs[0]);
    if ((codes && dtypeBits(codes->type) <= kPairedBits) || m_qdq.meetsQuantizer(m_op, kPairedBits))
        return true;
    NodeId last = m_op;
    if (node().opType == "MatMul") {
        if (const auto addend = gemmAddend()) {
            const auto& a = dimsOf(node().inputs[0]);
            if (dimsOf(addend->value)->size() != 1 || m_qdq.meetsQuantizer(addend->sum, kPairedBits))
                return true;
            if (a->size() > 2) // a Reshape follows
                return false;
            last = addend->sum;
        }
    }
    const NodeId next = m_qdq.onlyReader(graph().node(last).outputs[0]);
    if (!next.valid() || !graph().node(next).hasOutput(0)
        || !(graph().node(next).is("Relu") || graph().node(next).is("Clip")))
        return false;
    const ValueId clipped = graph().node(next).outputs[0];
    return m_qdq.uses(clipped).size() == 1 && !m_qdq.escapes(clipped);
}

bool UnitBuilder::gemmIsProduct(int64_t columns) const
{
    const Attributes& a = node().attributes;
    if (!isOne(a.real("alpha", 1)) || a.integer("transA", 0) != 0 || a.integer("transB", 0) != 0)
        return false;
    if (!node().hasInput(2))
        return true;
    const auto& bias = dimsOf(node().inputs[2]);
    return isOne(a.real("beta", 1)) && bias && bias->size() == 1 && (*bias)[0].value == columns;
}

UnitBuilder::MaybeSlot UnitBuilder::blockProduct()
{
    const bool gemm = node().opType == "Gemm";
    if ((!gemm && node().opType != "MatMul") || !node().hasInput(1))
        return std::nullopt;
    const auto [by, transposed] = storedWeight();
    if (!by.valid() || codedAround())
        return std::nullopt;
    const Node& dq = graph().node(by);
    const FileWeight given { *constant(dq.inputs[0]), *constant(dq.inputs[1]),
        dq.hasInput(2) ? constant(dq.inputs[2]) : nullptr, transposed };
    const auto blockSize = blockSizeOf(dq, given);
    if (!blockSize || (gemm && !gemmIsProduct(given.columns())))
        return std::nullopt;
    StoredBlocks w = storedBlocks(given, *blockSize);
    std::vector<Slot> inputs { value(node().inputs[0]), m_program.constant(std::move(w.codes)),
        m_program.constant(std::move(w.scale)),
        w.zeroPoint.valid() ? m_program.constant(std::move(w.zeroPoint)) : Slot {} };
    if (gemm && node().hasInput(2))
        inputs.insert(inputs.end(), { Slot {}, value(node().inputs[2]) });
    return add(programNode("MatMulNBits", kMicrosoftDomain, std::move(w.attributes)), inputs,
        m_qdq.lowered().facts().of(node().outputs[0]).dtype);
}

} // namespace qs
