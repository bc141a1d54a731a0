// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/common/float_work.h"
#include "core/engine/lower/common/movement.h"
#include "core/engine/lower/microsoft/parts.h"
#include "core/engine/registry/registry.h"
#include "core/graph/domains.h"

#include "core/kernels/movement/indexed_copy.h"
#include "core/tensor/convert.h"

/// GatherBlockQuantized: rows of a table of codes, dequantized block by block. Source: ONNX Runtime's operator
/// documentation.
namespace qs {

namespace {

/// bytes that hold several codes along the last axis as a tensor of those codes.
Result<Tensor> asCodes(const Tensor& t, int64_t bits)
{
    if (t.dtype() != DType::UInt8 || bits == 8)
        return t;
    if (bits != 4 && bits != 2)
        return badInput("bits is " + std::to_string(bits) + " where 2, 4 and 8 are defined");
    if (t.rank() == 0)
        return badInput("packed codes need an axis");
    Shape shape = t.shape();
    shape.back() *= 8 / bits;
    const auto owner = std::make_shared<const Tensor>(t);
    return Tensor::wrap(bits == 4 ? DType::UInt4 : DType::UInt2, std::move(shape), t.bytes().data(), owner);
}

struct GatherStep {
    int64_t gatherAxis, quantizeAxis, blockSize, bits;
};

/// The table with the parameters of its blocks.
struct QuantizedTable {
    Tensor codes; ///< one code an element
    Tensor scale;
    std::optional<Tensor> zeroPoint; ///< nothing: `usualZero` everywhere
    float usualZero = 0;
    size_t gatherAxis = 0, quantizeAxis = 0;
    int64_t block = 1;

    int64_t length() const { return codes.shape().back(); }
    /// Place in a list of parameters of `shape` for the row (the last axis from its start) that begins at
    /// `coordinates`.
    int64_t rowAt(const Shape& shape, const std::vector<int64_t>& coordinates) const
    {
        int64_t at = 0;
        for (size_t d = 0; d < shape.size(); ++d) {
            const int64_t i = d == quantizeAxis ? coordinates[d] / block : coordinates[d];
            at = at * shape[d] + (shape[d] == 1 ? 0 : i);
        }
        return at;
    }
    /// Elements [first, first + n) of a row.
    void dequantize(const std::vector<int64_t>& start, int64_t n, double* work, float* out) const
    {
        int64_t at = 0;
        for (size_t d = 0; d < start.size(); ++d)
            at = at * codes.dim(d) + start[d];
        loadElements(codes.dtype(), codes.bytes().data(), static_cast<size_t>(at), work, static_cast<size_t>(n));
        const size_t last = start.size() - 1;
        std::vector<int64_t> row = start;
        row[last] = 0;
        const int64_t scaleRow = rowAt(scale.shape(), row), zeroRow = zeroPoint ? rowAt(zeroPoint->shape(), row) : 0;
        const bool varies = scale.shape()[last] != 1, blocked = last == quantizeAxis;
        int64_t known = -1; // parameters of this block
        float zero = usualZero, step = 0;
        for (int64_t i = 0; i < n; ++i) {
            const int64_t k = !varies ? 0 : blocked ? (start[last] + i) / block : start[last] + i;
            if (k != known) {
                known = k;
                step = static_cast<float>(elementAsDouble(scale, scaleRow + k));
                zero = zeroPoint ? static_cast<float>(elementAsDouble(*zeroPoint, zeroRow + k)) : usualZero;
            }
            out[i] = (static_cast<float>(work[i]) - zero) * step;
        }
    }
};

/// Scales fit when each axis has one for all, one each, or one a block.
Status checkScale(const QuantizedTable& t, bool mayRepeat)
{
    const Shape& given = t.scale.shape();
    bool fits = given.size() == t.codes.rank();
    for (size_t d = 0; fits && d < t.codes.rank(); ++d) {
        const int64_t size = t.codes.dim(d), wanted = d == t.quantizeAxis ? (size + t.block - 1) / t.block : size;
        fits = given[d] == wanted || (mayRepeat && d != t.quantizeAxis && given[d] == 1);
    }
    if (!fits)
        return badInput("a scale of shape " + shapeText(given) + " does not fit blocks of " + std::to_string(t.block)
            + " along axis " + std::to_string(t.quantizeAxis) + " of " + shapeText(t.codes.shape()));
    return {};
}

Result<QuantizedTable> readTable(const GatherStep& step, const StepContext& s)
{
    QuantizedTable t;
    if (step.bits != 2 && step.bits != 4 && step.bits != 8)
        return badInput("bits is " + std::to_string(step.bits));
    const DType type = s.in(0).dtype();
    const bool bytes = type == DType::UInt8, smallFloat = isFloat(type) && dtypeBits(type) <= 8;
    if (!bytes && !smallFloat && type != DType::Int4 && type != DType::UInt4)
        return unsupportedType(type);
    QS_TRY(t.codes, asCodes(s.in(0), step.bits));
    if (t.codes.rank() == 0)
        return badInput("the table is a scalar");
    QS_TRY(t.gatherAxis, axisOf(step.gatherAxis, t.codes.rank()));
    QS_TRY(t.quantizeAxis, axisOf(step.quantizeAxis, t.codes.rank()));
    t.block = step.blockSize;
    if (t.block == 0 && smallFloat)
        t.block = std::max<int64_t>(t.codes.dim(t.quantizeAxis), 1);
    if (t.block < 1)
        return badInput("block_size is " + std::to_string(step.blockSize));
    if (!isFloat(s.in(2).dtype()))
        return unsupportedType(s.in(2).dtype());
    t.scale = toPlain(s.in(2));
    QS_CHECK(checkScale(t, smallFloat));
    t.usualZero = bytes ? static_cast<float>(1 << (step.bits - 1)) : 0;
    if (const Tensor* zero = s.input(3)) {
        if (zero->dtype() != type || smallFloat)
            return badInput("a zero point of type " + std::string(dtypeName(zero->dtype())) + " does not fit");
        QS_TRY(const Tensor codes, asCodes(*zero, step.bits));
        const int64_t blocks = t.scale.shape().back();
        Shape used = codes.shape();
        if (!used.empty() && used.back() >= blocks && used.back() < blocks + 8 / step.bits)
            used.back() = blocks; // packed rows are filled up to whole bytes
        if (used != t.scale.shape())
            return badInput("a zero point of shape " + shapeText(zero->shape()) + " does not fit the scale");
        t.zeroPoint = toPlain(codes);
    }
    return t;
}

/// One run of the output: elements of the table that lie behind each other.
Status gatherRuns(const QuantizedTable& t, const std::vector<int64_t>& indices, float* out)
{
    const Shape& shape = t.codes.shape();
    const size_t axis = t.gatherAxis, rank = shape.size();
    const bool lastAxis = axis + 1 == rank;
    const int64_t run = lastAxis ? 1 : t.length();
    const int64_t outer = product(shape, 0, axis);
    const int64_t rows = lastAxis ? 1 : product(shape, axis + 1, rank - 1);
    std::vector<double> work(static_cast<size_t>(run));
    std::vector<int64_t> start(rank);
    for (int64_t o = 0; o < outer; ++o)
        for (int64_t index : indices)
            for (int64_t r = 0; r < rows; ++r, out += run) {
                const int64_t at = index < 0 ? index + shape[axis] : index;
                if (at < 0 || at >= shape[axis]) { // as the runtime does
                    std::fill_n(out, run, 0.0f);
                    continue;
                }
                int64_t rest = o;
                for (size_t d = axis; d-- > 0; rest /= shape[d])
                    start[d] = rest % shape[d];
                start[axis] = at;
                rest = r;
                for (size_t d = rank - 1; d-- > axis + 1; rest /= shape[d])
                    start[d] = rest % shape[d];
                if (!lastAxis)
                    start[rank - 1] = 0;
                t.dequantize(start, run, work.data(), out);
            }
    return {};
}

Status runGather(const GatherStep& step, StepContext& s)
{
    QS_CHECK(needInputs(s, 3));
    QS_TRY(const QuantizedTable t, readTable(step, s));
    if (!isInteger(s.in(1).dtype()))
        return unsupportedType(s.in(1).dtype());
    Shape shape(t.codes.shape().begin(), t.codes.shape().begin() + static_cast<std::ptrdiff_t>(t.gatherAxis));
    shape.insert(shape.end(), s.in(1).shape().begin(), s.in(1).shape().end());
    shape.insert(
        shape.end(), t.codes.shape().begin() + static_cast<std::ptrdiff_t>(t.gatherAxis) + 1, t.codes.shape().end());
    QS_TRY(Tensor y, allocateChecked(s, DType::Float32, shape));
    if (y.count() > 0) {
        QS_CHECK(gatherRuns(t, toInts(s.in(1)), y.fill<float>().data()));
    }
    s.setOutput(0, fromWork<float>(s, std::move(y), s.in(2).dtype()));
    return {};
}

Result<LoweredNode> lowerGatherBlockQuantized(const LowerContext& c)
{
    const Attributes& a = c.node.attributes;
    const GatherStep step { a.integer("gather_axis", 0), a.integer("quantize_axis", 1), a.integer("block_size", 128),
        a.integer("bits", 4) };
    return LoweredNode { [step](StepContext& s) { return runGather(step, s); }, "dequantize rows" };
}

} // namespace

void lowerGatherQuantized(LoweringRegistry& r)
{
    r.add(kMicrosoftDomain, "GatherBlockQuantized", lowerGatherBlockQuantized);
}

} // namespace qs
