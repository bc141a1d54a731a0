// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/common/float_work.h"
#include "core/engine/lower/common/movement.h"
#include "core/engine/lower/microsoft/parts.h"
#include "core/engine/registry/registry.h"
#include "core/graph/domains.h"

#include "core/kernels/blocks/block_rows.h"
#include "core/tensor/convert.h"
#include "core/tensor/packed_rows.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>

/// Products with weights stored in small blocks: MatMulNBits, MatMulBnb4.
namespace qs {

namespace {

struct BlockAttributes {
    int64_t depth = 0, columns = 0, bits = 4, blockSize = 0, accuracy = 0;
    int64_t blocks() const { return (depth + blockSize - 1) / blockSize; }
};

Result<BlockAttributes> blockAttributes(const Node& node)
{
    const Attributes& a = node.attributes;
    const BlockAttributes b { a.integer("K", 0), a.integer("N", 0), a.integer("bits", 4), a.integer("block_size", 0),
        a.integer("accuracy_level", 0) };
    constexpr int64_t kLargest = int64_t(1) << 31;
    if (b.depth < 1 || b.columns < 1 || b.depth > kLargest || b.columns > kLargest)
        return badInput("K and N are " + std::to_string(b.depth) + " and " + std::to_string(b.columns));
    if (b.bits != 2 && b.bits != 4 && b.bits != 8)
        return badInput("bits is " + std::to_string(b.bits) + " where 2, 4 and 8 are defined");
    if (b.blockSize < 16 || b.blockSize > kLargest || !std::has_single_bit(static_cast<uint64_t>(b.blockSize)))
        return badInput("block_size " + std::to_string(b.blockSize) + " is not a power of two of 16 or more");
    return b;
}

/// The weights of one MatMulNBits, unpacked.
struct BlockWeights {
    std::vector<uint8_t> codes;
    std::vector<float> scale, zeroPoint;
    std::vector<int32_t> group;
    bool wholeZeroPoints = true;
    BlockCodes view;
};

Issue misfit(const char* what, const Tensor& t, int64_t wanted)
{
    return badInput(std::string(what) + " of shape " + shapeText(t.shape()) + " and type "
        + std::string(dtypeName(t.dtype())) + " does not fit; " + std::to_string(wanted) + " elements are needed");
}

Status readZeroPoints(const BlockAttributes& a, const Tensor* t, BlockWeights& w)
{
    const int64_t count = a.columns * a.blocks();
    w.zeroPoint.assign(static_cast<size_t>(count), static_cast<float>(1 << (a.bits - 1)));
    if (!t)
        return {};
    if (isFloat(t->dtype())) {
        if (t->count() != count)
            return misfit("the zero point", *t, count);
        w.zeroPoint = toFloats(*t);
        w.wholeZeroPoints = false;
        return {};
    }
    const int64_t bytes = a.columns * packedRowBytes(a.blocks(), a.bits);
    if (t->dtype() != DType::UInt8 || t->count() != bytes)
        return misfit("the zero point", *t, bytes);
    const auto codes = unpackRows(t->data<uint8_t>(), a.columns, a.blocks(), a.bits);
    std::ranges::copy(codes, w.zeroPoint.begin());
    return {};
}

Result<std::shared_ptr<const BlockWeights>> readWeights(
    const BlockAttributes& a, const Tensor& codes, const Tensor& scale, const Tensor* zeroPoint, const Tensor* group)
{
    auto w = std::make_shared<BlockWeights>();
    const int64_t bytes = a.columns * a.blocks() * (a.blockSize * a.bits / 8);
    if (codes.dtype() != DType::UInt8 || codes.count() != bytes)
        return misfit("a weight", codes, bytes);
    if (!isFloat(scale.dtype()) || scale.count() != a.columns * a.blocks())
        return misfit("the scale", scale, a.columns * a.blocks());
    w->codes = unpackRows(codes.data<uint8_t>(), a.columns, a.blocks() * a.blockSize, a.bits);
    w->scale = toFloats(scale);
    QS_CHECK(readZeroPoints(a, zeroPoint, *w));
    if (group) {
        if (!isInteger(group->dtype()) || group->count() < a.depth)
            return misfit("g_idx", *group, a.depth);
        for (int64_t k = 0; k < a.depth; ++k) {
            const int64_t g = elementAsInt(*group, k);
            if (g < 0 || g >= a.blocks())
                return badInput(
                    "g_idx holds " + std::to_string(g) + ", there are " + std::to_string(a.blocks()) + " blocks");
            w->group.push_back(static_cast<int32_t>(g));
        }
    }
    w->view = { w->codes.data(), w->scale.data(), w->zeroPoint.data(), group ? w->group.data() : nullptr, a.columns,
        a.depth, a.blocks(), a.blockSize };
    return std::shared_ptr<const BlockWeights>(std::move(w));
}

/// Where ONNX Runtime's x64 kernels compute with 8-bit activations: accuracy level 4, except for what only its float
/// path takes.
bool quantizesRows(const BlockAttributes& a, const BlockWeights& w)
{
    return a.accuracy == 4 && w.group.empty() && w.wholeZeroPoints && codedRowBlock(a.bits, a.blockSize) > 0;
}

/// The same weight in blocks as small as those of coded rows.
BlockWeights inRowBlocks(const BlockAttributes& a, BlockWeights w)
{
    const int64_t size = codedRowBlock(a.bits, a.blockSize);
    const auto parts = static_cast<size_t>(a.blockSize / size);
    for (std::vector<float>* values : { &w.scale, &w.zeroPoint }) {
        std::vector<float> each;
        each.reserve(values->size() * parts);
        for (const float value : *values)
            each.insert(each.end(), parts, value);
        *values = std::move(each);
    }
    w.view.scale = w.scale.data();
    w.view.zeroPoint = w.zeroPoint.data();
    w.view.blocks *= static_cast<int64_t>(parts);
    w.view.blockSize = size;
    return w;
}

/// What a product with prepared weights needs: panels of codes, or a product by `dense`, depth x columns.
struct PreparedWeights {
    std::optional<BlockPanels> panels;
    bool codedRows = false; ///< with panels: rows are quantized
    std::shared_ptr<const InnerOp> product;
    Tensor dense;
    std::string kernel() const { return product ? product->kernel() : codedRows ? "int8 blocks" : "float blocks"; }
};

Result<PreparedWeights> prepareDense(Tensor dense, KernelMode mode)
{
    PreparedWeights p;
    p.dense = std::move(dense);
    QS_TRY(InnerOp product,
        InnerOp::make(innerNode("MatMul"), { { DType::Float32, {}, true }, { DType::Float32, p.dense, true } }, mode));
    p.product = std::make_shared<const InnerOp>(std::move(product));
    return p;
}

Result<PreparedWeights> prepare(const BlockAttributes& a, const BlockWeights& w, KernelMode mode)
{
    const bool coded = quantizesRows(a, w);
    if (coded || (w.group.empty() && mode != KernelMode::Reference && hasBlockRows())) {
        PreparedWeights p;
        const bool split = coded && codedRowBlock(a.bits, a.blockSize) != a.blockSize;
        p.panels = split ? packBlocks(inRowBlocks(a, w).view, static_cast<int>(a.bits))
                         : packBlocks(w.view, static_cast<int>(a.bits));
        p.codedRows = coded;
        return p;
    }
    Tensor dense = Tensor::allocate(DType::Float32, { a.depth, a.columns });
    dequantizeBlocks(w.view, dense.fill<float>().data());
    return prepareDense(std::move(dense), mode);
}

/// Calls work(first, last) for parts of the panels.
void eachPanels(const StepContext& s, int64_t panels, const std::function<void(int64_t, int64_t)>& work)
{
    constexpr int64_t kTogether = 4, kParts = 4; // panels that a kernel takes at once; parts for each thread
    const int64_t parts = s.workers() == 1 ? 1 : static_cast<int64_t>(s.workers()) * kParts;
    const int64_t each = (panels + parts * kTogether - 1) / (parts * kTogether) * kTogether;
    s.parallel(static_cast<size_t>((panels + each - 1) / each), [&](size_t part, size_t) {
        const int64_t first = static_cast<int64_t>(part) * each;
        work(first, std::min(panels, first + each));
    });
}

void multiplyCoded(const StepContext& s, const BlockPanels& w, const Tensor& rows, KernelMode mode, float* y)
{
    constexpr int64_t kLargestBlock = int64_t(1) << 15; // whose sums fit 32 bits
    const int64_t depth = rows.dim(1);
    CodedRows coded(rows.dim(0), w.blocks, w.blockSize);
    const float* x = rows.data<float>().data();
    s.parallel(static_cast<size_t>(coded.rows),
        [&](size_t row, size_t) { codeRow(x + int64_t(row) * depth, depth, int64_t(row), coded); });
    const bool naive = mode == KernelMode::Reference || w.blockSize > kLargestBlock;
    const auto multiply = naive ? multiplyCodesReference : multiplyCodes;
    eachPanels(s, w.panels(), [&](int64_t first, int64_t last) { multiply(coded, w, first, last, y); });
}

/// Rows x columns floats.
Result<Tensor> multiplyRows(const StepContext& s, const PreparedWeights& p, const Tensor& rows, KernelMode mode)
{
    if (p.product)
        return p.product->run(s, { &rows, &p.dense });
    const BlockPanels& w = *p.panels;
    Tensor y = s.allocate(DType::Float32, { rows.dim(0), w.rows });
    float* to = y.fill<float>().data();
    if (rows.dim(0) == 0)
        return y;
    if (p.codedRows)
        multiplyCoded(s, w, rows, mode, to);
    else
        eachPanels(s, w.panels(), [&](int64_t first, int64_t last) {
            multiplyBlockRows(rows.data<float>().data(), rows.dim(0), w, first, last, to);
        });
    return y;
}

/// y + bias, in place.
Status addBias(const StepContext& s, const Tensor& bias, Tensor& y)
{
    const int64_t columns = y.dim(1);
    if (bias.count() != columns)
        return misfit("the bias", bias, columns);
    const Tensor add = asWork<float>(s, bias);
    const float* b = add.data<float>().data();
    float* to = y.fill<float>().data();
    for (int64_t row = 0; row < y.dim(0); ++row, to += columns)
        std::transform(to, to + columns, b, to, std::plus());
    return {};
}

/// A x weights (+ bias), in the type of A.
Status runProduct(StepContext& s, const PreparedWeights& p, int64_t depth, const Tensor* bias, KernelMode mode)
{
    const Tensor& a = s.in(0);
    if (!isComputedFloat(a.dtype()))
        return unsupportedType(a.dtype());
    if (a.rank() < 1 || a.shape().back() != depth)
        return badInput(
            "an input of shape " + shapeText(a.shape()) + " does not end with " + std::to_string(depth) + " elements");
    const Tensor rows = asWork<float>(s, a).reshaped({ product(a.shape(), 0, a.rank() - 1), depth });
    QS_TRY(Tensor y, multiplyRows(s, p, rows, mode));
    const int64_t columns = y.dim(1);
    if (bias)
        QS_CHECK(addBias(s, *bias, y));
    Shape shape = a.shape();
    shape.back() = columns;
    s.setOutput(0, fromWork<float>(s, y.reshaped(std::move(shape)), a.dtype()));
    return {};
}

Result<LoweredNode> lowerMatMulNBits(const LowerContext& c)
{
    QS_CHECK(needFloat(c.inputType(0)));
    QS_TRY(const BlockAttributes a, blockAttributes(c.node));
    std::shared_ptr<const PreparedWeights> packed;
    const auto known = [&](size_t slot) { return !c.node.hasInput(slot) || c.constant(slot); };
    if (c.constant(1) && c.constant(2) && known(3) && known(4)) {
        QS_TRY(const auto w, readWeights(a, *c.constant(1), *c.constant(2), c.constant(3), c.constant(4)));
        QS_TRY(PreparedWeights p, prepare(a, *w, c.mode));
        packed = std::make_shared<const PreparedWeights>(std::move(p));
    }
    const std::string kernel = packed ? packed->kernel() : "int8 blocks";
    return LoweredNode { [a, packed, mode = c.mode](StepContext& s) -> Status {
                            QS_CHECK(needInputs(s, 3));
                            if (packed)
                                return runProduct(s, *packed, a.depth, s.input(5), mode);
                            QS_TRY(const auto w, readWeights(a, s.in(1), s.in(2), s.input(3), s.input(4)));
                            QS_TRY(const PreparedWeights p, prepare(a, *w, mode));
                            return runProduct(s, p, a.depth, s.input(5), mode);
                        },
        c.mode == KernelMode::Reference ? "reference" : kernel };
}

/// Weights of MatMulBnb4 as depth x columns floats; blocks run over the whole flat columns x depth matrix.
Result<Tensor> bnb4Weights(const Node& node, const Tensor& codes, const Tensor& scale)
{
    const Attributes& a = node.attributes;
    const int64_t depth = a.integer("K", 0), columns = a.integer("N", 0), block = a.integer("block_size", 0);
    const bool transposed = a.integer("transB", 1) != 0;
    const auto count = elementCount({ depth, columns });
    if (depth < 1 || columns < 1 || block < 1 || !count)
        return badInput("K, N or block_size is not positive");
    if (codes.dtype() != DType::UInt8 || codes.count() != (*count + 1) / 2)
        return misfit("a weight", codes, (*count + 1) / 2);
    if (!isFloat(scale.dtype()) || scale.count() != (*count + block - 1) / block)
        return misfit("absmax", scale, (*count + block - 1) / block);
    const float* table = tableValues(a.integer("quant_type", 1) == 0 ? FloatTable::Fp4 : FloatTable::Nf4);
    const auto bytes = codes.data<uint8_t>();
    const std::vector<float> scales = toFloats(scale);
    Tensor out = Tensor::allocate(DType::Float32, transposed ? Shape { depth, columns } : Shape { columns, depth });
    for (int64_t i = 0; i < *count; ++i) {
        const unsigned byte = bytes[static_cast<size_t>(i / 2)];
        const float value = table[i % 2 ? byte & 15 : byte >> 4] * scales[static_cast<size_t>(i / block)];
        const int64_t at = transposed ? i % depth * columns + i / depth : i;
        out.fill<float>()[static_cast<size_t>(at)] = value;
    }
    return out;
}

Result<LoweredNode> lowerMatMulBnb4(const LowerContext& c)
{
    QS_CHECK(needFloat(c.inputType(0)));
    std::shared_ptr<const PreparedWeights> packed;
    if (c.constant(1) && c.constant(2)) {
        QS_TRY(Tensor dense, bnb4Weights(c.node, *c.constant(1), *c.constant(2)));
        QS_TRY(PreparedWeights p, prepareDense(std::move(dense), c.mode));
        packed = std::make_shared<const PreparedWeights>(std::move(p));
    }
    return LoweredNode { [packed, node = &c.node, mode = c.mode](StepContext& s) -> Status {
                            QS_CHECK(needInputs(s, 3));
                            if (packed)
                                return runProduct(s, *packed, packed->dense.dim(0), nullptr, mode);
                            QS_TRY(Tensor dense, bnb4Weights(*node, s.in(1), s.in(2)));
                            QS_TRY(const PreparedWeights p, prepareDense(std::move(dense), mode));
                            return runProduct(s, p, p.dense.dim(0), nullptr, mode);
                        },
        packed ? packed->product->kernel() : "reference" };
}

} // namespace

void lowerBlockProducts(LoweringRegistry& r)
{
    r.add(kMicrosoftDomain, "MatMulNBits", lowerMatMulNBits);
    r.add(kMicrosoftDomain, "MatMulBnb4", lowerMatMulBnb4);
}

} // namespace qs
