// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/common/codes.h"
#include "core/engine/lower/common/element_types.h"
#include "core/engine/lower/recurrent/parts.h"
#include "core/kernels/codes/integer_product.h"
#include "core/kernels/quantize/quantize.h"
#include "core/tensor/convert.h"

#include <algorithm>

/// com.microsoft DynamicQuantizeLSTM: before each product the left matrix is quantized to uint8 over the range of all
/// its numbers, the sums are exact, f32(sum) * f32(left scale * weight scale). Source: ONNX Runtime with one thread;
/// with more it may take parts of the batch apart, each with a range of its own, so its results depend on how many
/// there are.
namespace qs {

namespace {

/// Codes of W or R with what they mean: directions x depth x gates*hidden.
struct CodedWeights {
    Tensor codes; ///< plain
    std::vector<float> scales; ///< one a direction, or one a column of each
    std::vector<int32_t> zeroPoints; ///< the same
    std::vector<PackedCodes> packed; ///< by direction
    std::vector<SaturationTable> saturation; ///< the same; none where sums are exact

    int64_t depth() const { return codes.dim(1); }
    int64_t columns() const { return codes.dim(2); }
    CodeMatrix matrix(size_t d) const
    {
        return { codesOf(codes).from(int64_t(d) * depth() * columns()), depth(), columns(), columns(), 1 };
    }
    template <class T> std::span<const T> part(const std::vector<T>& list, size_t d) const
    {
        const size_t one = list.size() / size_t(codes.dim(0));
        return std::span<const T>(list).subspan(d * one, one);
    }
};

Result<std::shared_ptr<const CodedWeights>> codedWeights(
    const Tensor& codes, const Tensor* scale, const Tensor* zero, const char* what, PairSaturation saturation)
{
    QS_CHECK(checkCodes(codes, what));
    if (codes.rank() != 3)
        return badInput(std::string(what) + " has rank " + std::to_string(codes.rank()) + ", but needs rank 3");
    CodedWeights w;
    w.codes = toPlain(codes);
    if (!scale || scale->dtype() != DType::Float32)
        return badInput(std::string("the scale of ") + what + " is missing");
    w.scales = toFloats(*scale);
    w.zeroPoints = zero ? zeroPointsOf(zero) : std::vector<int32_t>(size_t(codes.dim(0)), 0);
    const auto fits = [&](size_t n) {
        return codes.dim(0) > 0 && (n == size_t(codes.dim(0)) || n == size_t(codes.dim(0)) * size_t(codes.dim(2)));
    };
    if (!fits(w.scales.size()) || !fits(w.zeroPoints.size()))
        return badInput(
            std::string("scale and zero point of ") + what + " must have one number for each direction or column");
    for (size_t d = 0; d < size_t(codes.dim(0)); ++d)
        w.packed.push_back(packCodes(w.matrix(d), w.part(w.zeroPoints, d)));
    for (size_t d = 0; d < size_t(codes.dim(0)) && saturates(saturation, DType::UInt8, codes.dtype()); ++d)
        w.saturation.push_back(saturationTable(w.matrix(d)));
    return std::make_shared<const CodedWeights>(std::move(w));
}

/// Scratch memory of one product.
struct QuantizedProduct {
    const CodedWeights& weights;
    size_t direction;
    int64_t rows;
    bool reference;
    const StepContext& context;
    Tensor codes, wide, sums;

    QuantizedProduct(const StepContext& c, const CodedWeights& w, size_t d, int64_t count, bool isReference)
        : weights(w)
        , direction(d)
        , rows(count)
        , reference(isReference)
        , context(c)
        , codes(c.allocate(DType::UInt8, { count, w.depth() }))
        , wide(c.allocate(DType::Int16, { count, widenedDepth(w.depth()) }))
        , sums(c.allocate(DType::Int32, { count, w.columns() }))
    {
    }
    bool run(const float* left, float* out);
    void saturate();
};

/// Turns the exact sums into those of 16-bit pairs, and counts.
void QuantizedProduct::saturate()
{
    if (weights.saturation.empty())
        return;
    const int64_t depth = weights.depth(), columns = weights.columns();
    std::vector<uint64_t> saturated(static_cast<size_t>(columns));
    SaturationTally tally { saturated, {} };
    for (int64_t r = 0; r < rows; ++r)
        saturatePairs(weights.saturation[direction], codes.data<uint8_t>().data() + r * depth,
            sums.fill<int32_t>().data() + r * columns, tally);
    countPairs(context, rows, depth, tally);
}

bool QuantizedProduct::run(const float* left, float* out)
{
    const int64_t depth = weights.depth(), columns = weights.columns();
    const auto count = size_t(rows * depth);
    const DynamicScale made = dynamicScale(rangeWithZero(left, count));
    const float scale = made.scale;
    const int32_t zero = made.zeroPoint;
    quantizeFast<uint8_t>(left, { &scale, &zero, 0 }, codes.fill<uint8_t>().data(), count);
    const Codes a { codes.data<uint8_t>().data(), false };
    int32_t* s = sums.fill<int32_t>().data();
    if (reference) {
        const std::vector<int32_t> zeros { zero };
        multiplyReference({ a, rows, depth, depth, 1 }, zeros, weights.matrix(direction),
            weights.part(weights.zeroPoints, direction), s);
    } else {
        int16_t* w = wide.fill<int16_t>().data();
        for (int64_t r = 0; r < rows; ++r)
            widen(a.from(r * depth), depth, 1, zero, w + r * widenedDepth(depth));
        multiply(w, rows, weights.packed[direction], s, columns);
    }
    saturate();
    std::vector<float> scales;
    for (float one : weights.part(weights.scales, direction))
        scales.push_back(scale * one);
    scaleSums(s, rows, columns, scales, {}, out);
    return true;
}

struct QuantizedLstm {
    RecurrentNode node;
    bool reference = false;
    PairSaturation saturation = PairSaturation::None;
    std::shared_ptr<const CodedWeights> w, r; ///< constant ones; else null

    Status run(StepContext& c) const;
};

Status QuantizedLstm::run(StepContext& c) const
{
    using Weights = std::shared_ptr<const CodedWeights>;
    const auto weights = [&](const Weights& constant, size_t slot, size_t scale, const char* what) -> Result<Weights> {
        if (constant)
            return constant;
        return codedWeights(c.in(slot), c.input(scale), c.input(scale + 1), what, saturation);
    };
    QS_TRY(const Weights wanted, weights(w, 1, 8, "W"));
    QS_TRY(const Weights recurrent, weights(r, 2, 10, "R"));
    const CodedWeights &input = *wanted, &state = *recurrent;
    if (c.in(0).dtype() != DType::Float32)
        return unsupportedType(c.in(0).dtype());
    if (state.columns() != 4 * state.depth() || input.columns() != state.columns()
        || input.codes.dim(0) != state.codes.dim(0))
        return badInput("weights of shape " + shapeText(input.codes.shape()) + " and " + shapeText(state.codes.shape())
            + " do not fit each other");
    QS_TRY(const RecurrentSizes sizes, recurrentSizes(node, c.in(0), input.depth(), state.depth(), input.codes.dim(0)));
    return runRecurrentFast(node, c, sizes, [&](size_t d, const RecurrentRun<float>& one) {
        const auto of = [&](const CodedWeights& codes, int64_t rows) {
            return [product = std::make_shared<QuantizedProduct>(c, codes, d, rows, reference)](
                       const float* left, float* out) { return product->run(left, out); };
        };
        return RecurrentProducts { of(input, one.length * one.batch), of(state, one.batch) };
    });
}

} // namespace

Result<LoweredNode> lowerDynamicQuantizeLstm(const LowerContext& c)
{
    auto step = std::make_shared<QuantizedLstm>();
    QS_TRY(step->node, recurrentNode(c.node, CellKind::Lstm));
    step->reference = c.mode == KernelMode::Reference;
    step->saturation = c.saturation;
    const auto take
        = [&](std::shared_ptr<const CodedWeights>& to, size_t slot, size_t scale, const char* what) -> Status {
        const Tensor* codes = c.constant(slot);
        const Tensor *s = c.constant(scale), *z = c.constant(scale + 1);
        const bool zeroKnown = z || scale + 1 >= c.node.inputs.size() || !c.node.inputs[scale + 1].valid();
        if (!codes || !s || !zeroKnown)
            return {};
        QS_TRY(to, codedWeights(*codes, s, z, what, c.saturation));
        return {};
    };
    QS_CHECK(take(step->w, 1, 8, "W"));
    QS_CHECK(take(step->r, 2, 10, "R"));
    LoweredNode lowered { [step](StepContext& s) { return step->run(s); },
        step->reference ? "reference" : "integer recurrent" };
    lowered.countsPairs = c.saturation != PairSaturation::None;
    return lowered;
}

} // namespace qs
