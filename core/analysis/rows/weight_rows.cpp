// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/rows/weight_rows.h"

#include "core/analysis/measure/channel_major.h"
#include "core/analysis/measure/pair_memory.h"
#include "core/analysis/pairs/float_elements.h"
#include "core/analysis/pairs/folded_constants.h"
#include "core/base/work/cancel_scope.h"
#include "core/base/work/parallel.h"
#include "core/kernels/statistics/bins.h"
#include "core/match/canonical.h"
#include "core/qdq/qlinear_signature.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <bitset>
#include <cmath>

namespace qs {

namespace {

/// Half a step with room for how files round their scales and for the largest code (127.5 rounds to 127).
constexpr double kHalfStep = 0.51;

/// Output channels of the float weight: where per-channel scales would go.
int64_t outputAxis(const Node& node, const Shape& shape, bool bias)
{
    if (bias || shape.size() < 2)
        return shape.empty() ? 0 : int64_t(shape.size()) - 1;
    if (node.opType == "ConvTranspose")
        return 1;
    if (node.opType == "Gemm")
        return node.attributes.integer("transB", 0) ? 0 : 1;
    if (node.opType == "MatMul")
        return int64_t(shape.size()) - 1;
    return 0;
}

/// x rounded to a multiple of `scale`, half to even; below 2^51 steps.
double onGrid(double x, double scale)
{
    constexpr double kRound = 0x1.8p52; // sums near it are whole numbers
    return (x / scale + kRound - kRound) * scale;
}

/// Error of symmetric 8-bit rounding of x with one scale a group (-127..127).
double symmetricNoise(
    std::span<const float> x, const std::vector<double>& absMax, const Channels& channels, bool perChannel)
{
    const double largest = absMax.empty() ? 0 : std::ranges::max(absMax);
    double noise = 0;
    channels.eachRun(x.size(), [&](size_t c, size_t begin, size_t n) {
        const double scale = (perChannel ? absMax[c] : largest) / 127;
        if (scale == 0)
            return;
        noise += sumOf(begin, begin + n, [&](size_t i) {
            const double error = onGrid(x[i], scale) - x[i];
            return error * error;
        });
    });
    return noise;
}

/// Share of the codes that occur; below 16 bits.
double usedCodes(const Tensor& codes, const QuantParams& params)
{
    std::bitset<256> used;
    markCodes(unpacked(codes).data<uint8_t>(), used);
    const auto range = params.codes();
    return double(used.count()) / double(range.high - range.low + 1);
}

/// Numbers that need the scale of each element.
void fillAgainstGrid(std::span<const float> x, std::span<const float> y, const QuantParams& params,
    const Channels& scales, double signal, WeightRow& row)
{
    const auto range = params.codes();
    size_t outside = 0, off = 0;
    double step2 = 0;
    scales.eachRun(x.size(), [&](size_t channel, size_t begin, size_t n) {
        const size_t c = std::min(channel, params.scale.size() - 1);
        const double s = params.scale[c], z = c < params.zeroPoint.size() ? params.zeroPoint[c] : 0;
        const double lowest = s * (double(range.low) - z) - s / 2, highest = s * (double(range.high) - z) + s / 2;
        const double tolerance = kHalfStep * s + 1e-12;
        step2 += s * s * double(n);
        for (size_t i = begin; i < begin + n; ++i) {
            const bool inside = !(x[i] < lowest) & !(x[i] > highest);
            outside += !inside;
            off += inside & (std::fabs(double(y[i]) - x[i]) > tolerance);
        }
    });
    const auto n = static_cast<double>(x.size());
    row.idealSqnrDb = powerRatioDb(signal, step2 / 12);
    row.clippedFraction = double(outside) / n;
    if (outside < x.size())
        row.offByMoreThanHalfStep = double(off) / double(x.size() - outside);
}

void fillChannels(std::span<const float> x, std::span<const float> y, const Channels& channels, WeightRow& row)
{
    const auto count = static_cast<size_t>(channels.count);
    std::vector<double> signal(count), noise(count);
    row.channelAbsMax.assign(count, 0);
    channels.eachRun(x.size(), [&](size_t c, size_t begin, size_t n) {
        signal[c] += sumOf(begin, begin + n, [&](size_t i) { return double(x[i]) * x[i]; });
        noise[c] += sumOf(begin, begin + n, [&](size_t i) {
            const double error = double(y[i]) - x[i];
            return error * error;
        });
        float most = 0;
        for (size_t i = begin; i < begin + n; ++i)
            most = std::max(most, std::fabs(x[i]));
        row.channelAbsMax[c] = std::max(row.channelAbsMax[c], double(most));
    });
    for (size_t c = 0; c < count; ++c)
        row.channelSqnrDb.push_back(powerRatioDb(signal[c], noise[c]));
    row.rangeRatio = largestOverMedian(row.channelAbsMax);
}

/// Names and places.
void identify(const ComparePair& pair, const WeightPair& wp, WeightRow& row)
{
    const Graph& fg = pair.floatPlan->graph();
    const Graph& qg = pair.quantPlan->graph();
    const Quantizer& q = pair.quantView->quantizers()[wp.quantizer];
    row.floatValue = wp.floatValue;
    row.quantizer = wp.quantizer;
    row.name = fg.value(wp.floatValue).name;
    row.quantizedName = qg.value(q.shown()).name;
    row.floatNode = wp.floatNode;
    row.quantNode = wp.quantNode;
    row.node = fg.node(wp.floatNode).name;
    row.opType = fg.node(wp.floatNode).opType;
    row.bias = q.role == QuantRole::Bias;
    row.method = wp.method;
    row.confidence = wp.confidence;
}

WeightRow makeRow(const ComparePair& pair, const WeightPair& wp, const Tensor& floatTensor, bool histograms)
{
    const Graph& fg = pair.floatPlan->graph();
    const Quantizer& q = pair.quantView->quantizers()[wp.quantizer];
    const Tensor& codes = *storedCodes(*pair.quantPlan, q);
    WeightRow row;
    identify(pair, wp, row);
    row.params = q.params;
    row.shape = floatTensor.shape();
    const bool floats = floatTensor.dtype() == DType::Float32 && floatTensor.layout() == Layout::Plain;
    const std::vector<float> converted = floats ? std::vector<float>() : toFloats(floatTensor);
    const std::span<const float> x = floats ? floatTensor.data<float>() : std::span<const float>(converted);
    auto y = dequantized(codes, q.params);
    Channels scales = channelsOf(codes.shape(), q.params.axis.value_or(0));
    if (wp.transposed && codes.rank() == 2) {
        y = toFloats(exchangedAxes(Tensor::of<float>(codes.shape(), y)));
        if (row.params.axis) {
            row.params.axis = 1 - *row.params.axis;
            scales = channelsOf({ codes.dim(1), codes.dim(0) }, *row.params.axis);
        }
    }
    PairSums sums;
    addPairSums(sums, x.data(), y.data(), nullptr, x.size(), nullptr, {});
    row.similarity = similarityOf(sums);
    if (isInteger(q.params.dtype) && q.params.blockSize == 0)
        fillAgainstGrid(x, y, row.params, scales, sums.xx, row);
    if (isInteger(q.params.dtype) && dtypeBits(q.params.dtype) <= 8 && q.params.blockSize == 0)
        row.usedCodes = usedCodes(codes, row.params);
    row.channelAxis = outputAxis(fg.node(wp.floatNode), row.shape, row.bias);
    const Channels channels = channelsOf(row.shape, row.channelAxis);
    fillChannels(x, y, channels, row);
    if (!row.bias && row.shape.size() >= 2) {
        row.perTensorSqnrDb = powerRatioDb(sums.xx, symmetricNoise(x, row.channelAbsMax, channels, false));
        row.perChannelSqnrDb = powerRatioDb(sums.xx, symmetricNoise(x, row.channelAbsMax, channels, true));
    }
    if (histograms) {
        row.floatHistogram.add(x);
        row.quantHistogram.add(y);
    }
    return row;
}

/// The row that an earlier comparison of the same weight and codes made, if there is one.
WeightRow remembered(const ComparePair& pair, const WeightPair& wp, bool histograms, PairMemory& memory)
{
    const Node& node = pair.floatPlan->graph().node(wp.floatNode);
    const Quantizer& q = pair.quantView->quantizers()[wp.quantizer];
    const bool bias = q.role == QuantRole::Bias;
    const Shape& shape = pair.floatPlan->constant(wp.floatValue)->shape();
    const auto key = weightKey(
        pair, wp.floatValue, wp.quantizer, { histograms, wp.transposed, bias, outputAxis(node, shape, bias) });
    if (!key)
        return makeRow(pair, wp, *pair.floatPlan->constant(wp.floatValue), histograms);
    if (const auto known = memory.findWeight(*key)) {
        WeightRow row = *known;
        identify(pair, wp, row);
        return row;
    }
    auto made
        = std::make_shared<const WeightRow>(makeRow(pair, wp, *pair.floatPlan->constant(wp.floatValue), histograms));
    memory.keepWeight(*key, made);
    return *made;
}

} // namespace

std::vector<WeightRow> compareWeights(const ComparePair& pair, bool histograms, size_t threads, PairMemory* memory)
{
    const auto& weights = pair.alignment->weights;
    const FoldedConstants folded(pair);
    std::vector<WeightRow> rows(weights.size());
    const CancelToken cancel = cancelOfScope();
    parallelFor(weights.size(), std::min(threads, std::max<size_t>(weights.size(), 1)), [&](size_t i, size_t) {
        if (cancel.cancelled())
            return;
        rows[i] = memory && folded.isOwn(weights[i]) ? remembered(pair, weights[i], histograms, *memory)
                                                     : makeRow(pair, weights[i], *folded.of(weights[i]), histograms);
    });
    return rows;
}

} // namespace qs
