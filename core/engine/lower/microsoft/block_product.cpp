// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files/mapped_pages.h"
#include "core/engine/lower/common/at_first_run.h"
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
    int64_t rowBytes() const { return blocks() * (blockSize * bits / 8); } ///< of the codes of a column
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

/// What a file stores of the weights of one MatMulNBits.
struct BlockTensors {
    Tensor codes, scale;
    std::optional<Tensor> zeroPoint, group;
    bool wholeZeroPoints() const { return !zeroPoint || !isFloat(zeroPoint->dtype()); }
};

Issue misfit(const char* what, const Tensor& t, int64_t wanted)
{
    return badInput(std::string(what) + " of shape " + shapeText(t.shape()) + " and type "
        + std::string(dtypeName(t.dtype())) + " does not fit; " + std::to_string(wanted) + " elements are needed");
}

Status checkGroups(const BlockAttributes& a, const Tensor& group)
{
    if (!isInteger(group.dtype()) || group.count() < a.depth)
        return misfit("g_idx", group, a.depth);
    for (int64_t k = 0; k < a.depth; ++k)
        if (const int64_t g = elementAsInt(group, k); g < 0 || g >= a.blocks())
            return badInput(
                "g_idx holds " + std::to_string(g) + ", there are " + std::to_string(a.blocks()) + " blocks");
    return {};
}

/// Looks at no element but those of g_idx.
Status checkTensors(const BlockAttributes& a, const BlockTensors& t)
{
    const int64_t count = a.columns * a.blocks(), bytes = a.columns * a.rowBytes();
    if (t.codes.dtype() != DType::UInt8 || t.codes.count() != bytes)
        return misfit("a weight", t.codes, bytes);
    if (!isFloat(t.scale.dtype()) || t.scale.count() != count)
        return misfit("the scale", t.scale, count);
    const int64_t zeroBytes = a.columns * packedRowBytes(a.blocks(), a.bits);
    if (!t.wholeZeroPoints() && t.zeroPoint->count() != count)
        return misfit("the zero point", *t.zeroPoint, count);
    if (t.wholeZeroPoints() && t.zeroPoint
        && (t.zeroPoint->dtype() != DType::UInt8 || t.zeroPoint->count() != zeroBytes))
        return misfit("the zero point", *t.zeroPoint, zeroBytes);
    return t.group ? checkGroups(a, *t.group) : Status();
}

/// Of tensors that checkTensors() found no fault with.
std::vector<float> zeroPointsOf(const BlockAttributes& a, const BlockTensors& t)
{
    if (!t.zeroPoint)
        return std::vector<float>(static_cast<size_t>(a.columns * a.blocks()), static_cast<float>(1 << (a.bits - 1)));
    if (!t.wholeZeroPoints())
        return toFloats(*t.zeroPoint);
    const auto codes = unpackRows(t.zeroPoint->data<uint8_t>(), a.columns, a.blocks(), a.bits);
    return { codes.begin(), codes.end() };
}

/// Where ONNX Runtime's x64 kernels compute with 8-bit activations: accuracy level 4, except for what only its float
/// path takes.
bool quantizesRows(const BlockAttributes& a, const BlockTensors& t)
{
    return a.accuracy == 4 && !t.group && t.wholeZeroPoints() && codedRowBlock(a.bits, a.blockSize) > 0;
}

bool usesPanels(const BlockAttributes& a, const BlockTensors& t, KernelMode mode)
{
    return quantizesRows(a, t) || (!t.group && mode != KernelMode::Reference && hasBlockRows());
}

std::vector<float> eachRepeated(const std::vector<float>& values, size_t times)
{
    std::vector<float> each;
    each.reserve(values.size() * times);
    for (const float value : values)
        each.insert(each.end(), times, value);
    return each;
}

/// What a product with prepared weights needs: panels of codes, or a product by `dense`, depth x columns.
struct PreparedWeights {
    std::optional<BlockPanels> panels;
    bool codedRows = false; ///< with panels: rows are quantized
    std::shared_ptr<const InnerOp> product;
    Tensor dense;
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

/// Panels in place of what lies in a mapped file: pages go as soon as their codes are packed, so that no weight is in
/// memory twice.
PreparedWeights preparePanels(const BlockAttributes& a, const BlockTensors& t)
{
    PreparedWeights p;
    p.codedRows = quantizesRows(a, t);
    std::vector<float> scale = toFloats(t.scale), zeroPoint = zeroPointsOf(a, t);
    const int64_t blockSize = p.codedRows ? codedRowBlock(a.bits, a.blockSize) : a.blockSize;
    if (const auto parts = static_cast<size_t>(a.blockSize / blockSize);
        parts > 1) { // blocks as small as those of rows
        scale = eachRepeated(scale, parts);
        zeroPoint = eachRepeated(zeroPoint, parts);
    }
    const StoredBlocks stored { t.codes.data<uint8_t>().data(), static_cast<int>(a.bits), scale.data(),
        zeroPoint.data(), a.columns, a.depth, a.blocks() * (a.blockSize / blockSize), blockSize };
    p.panels = panelsWithoutCodes(stored);
    letPagesGo(t.scale.bytes());
    constexpr int64_t kTogether = int64_t(4) << 20; // bytes of codes
    const int64_t each = std::max<int64_t>(kTogether / a.rowBytes(), 1);
    for (int64_t row = 0; row < a.columns; row += each) {
        const int64_t end = std::min(a.columns, row + each);
        packCodes(stored, row, end, *p.panels);
        letPagesGo(t.codes.bytes().first(static_cast<size_t>(end * a.rowBytes())));
    }
    return p;
}

Result<PreparedWeights> prepare(const BlockAttributes& a, const BlockTensors& t, KernelMode mode)
{
    if (usesPanels(a, t, mode))
        return preparePanels(a, t);
    const auto codes = unpackRows(t.codes.data<uint8_t>(), a.columns, a.blocks() * a.blockSize, a.bits);
    const std::vector<float> scale = toFloats(t.scale), zeroPoint = zeroPointsOf(a, t);
    std::vector<int32_t> group;
    for (int64_t k = 0; t.group && k < a.depth; ++k)
        group.push_back(static_cast<int32_t>(elementAsInt(*t.group, k)));
    const BlockCodes view { codes.data(), scale.data(), zeroPoint.data(), t.group ? group.data() : nullptr, a.columns,
        a.depth, a.blocks(), a.blockSize };
    Tensor dense = Tensor::allocate(DType::Float32, { a.depth, a.columns });
    dequantizeBlocks(view, dense.fill<float>().data());
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

Result<BlockTensors> blockTensors(
    const BlockAttributes& a, const Tensor& codes, const Tensor& scale, const Tensor* zeroPoint, const Tensor* group)
{
    BlockTensors t { codes, scale, {}, {} };
    if (zeroPoint)
        t.zeroPoint = *zeroPoint;
    if (group)
        t.group = *group;
    QS_CHECK(checkTensors(a, t));
    return t;
}

Result<LoweredNode> lowerMatMulNBits(const LowerContext& c)
{
    QS_CHECK(needFloat(c.inputType(0)));
    QS_TRY(const BlockAttributes a, blockAttributes(c.node));
    AtFirstRun<PreparedWeights> packed;
    std::string kernel = "int8 blocks";
    const auto known = [&](size_t slot) { return !c.node.hasInput(slot) || c.constant(slot); };
    if (c.constant(1) && c.constant(2) && known(3) && known(4)) {
        QS_TRY(const auto t, blockTensors(a, *c.constant(1), *c.constant(2), c.constant(3), c.constant(4)));
        if (usesPanels(a, t, c.mode)) {
            packed = AtFirstRun<PreparedWeights>([a, t] { return preparePanels(a, t); });
            kernel = quantizesRows(a, t) ? "int8 blocks" : "float blocks";
        } else {
            QS_TRY(const PreparedWeights p, prepare(a, t, c.mode));
            packed = AtFirstRun<PreparedWeights>([p] { return p; });
            kernel = p.product->kernel();
        }
    }
    return LoweredNode { [a, packed, mode = c.mode](StepContext& s) -> Status {
                            QS_CHECK(needInputs(s, 3));
                            if (packed)
                                return runProduct(s, *packed, a.depth, s.input(5), mode);
                            QS_TRY(const auto t, blockTensors(a, s.in(1), s.in(2), s.input(3), s.input(4)));
                            QS_TRY(const PreparedWeights p, prepare(a, t, mode));
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
