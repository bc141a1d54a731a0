// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/measured.h"

#include "core/base/rounding.h"
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

/// Index of the channel of each element in plain order.
struct Channels {
    int64_t count = 1;
    int64_t inner = 1;
    size_t of(size_t i) const { return size_t((int64_t(i) / inner) % count); }
};

Channels channelsOf(const Shape& shape, int64_t axis)
{
    Channels c;
    if (shape.empty() || axis < 0 || size_t(axis) >= shape.size())
        return c;
    c.count = std::max<int64_t>(shape[size_t(axis)], 1);
    for (size_t i = size_t(axis) + 1; i < shape.size(); ++i)
        c.inner *= shape[i];
    return c;
}

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

Tensor transposed(const Tensor& t)
{
    Tensor out = Tensor::allocate(DType::Float32, { t.dim(1), t.dim(0) });
    for (int64_t r = 0; r < t.dim(0); ++r)
        for (int64_t c = 0; c < t.dim(1); ++c)
            out.fill<float>()[size_t(c * t.dim(0) + r)] = static_cast<float>(elementAsDouble(t, r * t.dim(1) + c));
    return out;
}

/// Error of symmetric 8-bit rounding of x with one scale a group (-127..127).
double symmetricNoise(
    const std::vector<float>& x, const std::vector<double>& absMax, const Channels& channels, bool perChannel)
{
    double largest = 0;
    for (double m : absMax)
        largest = std::max(largest, m);
    double noise = 0;
    for (size_t i = 0; i < x.size(); ++i) {
        const double top = perChannel ? absMax[channels.of(i)] : largest;
        if (top == 0)
            continue;
        const double scale = top / 127;
        const double error = roundHalfEven(x[i] / scale) * scale - x[i];
        noise += error * error;
    }
    return noise;
}

/// Numbers that need the scale of each element.
void fillAgainstGrid(const std::vector<float>& x, const std::vector<float>& y, const QuantParams& params,
    const Channels& scales, double signal, WeightRow& row)
{
    const auto range = params.codes();
    size_t clipped = 0, off = 0, inside = 0;
    double step2 = 0;
    std::bitset<256> used;
    for (size_t i = 0; i < x.size(); ++i) {
        const size_t c = params.scale.size() > 1 ? std::min(scales.of(i), params.scale.size() - 1) : 0;
        const double s = params.scale[c];
        const double z = c < params.zeroPoint.size() ? params.zeroPoint[c] : 0;
        step2 += s * s;
        const bool outside = x[i] < s * (double(range.low) - z) - s / 2 || x[i] > s * (double(range.high) - z) + s / 2;
        clipped += outside;
        inside += !outside;
        off += !outside && std::fabs(double(y[i]) - x[i]) > kHalfStep * s + 1e-12;
        if (dtypeBits(params.dtype) <= 8 && s > 0)
            used.set(size_t(std::clamp(std::nearbyint(y[i] / s) + z - double(range.low), 0.0, 255.0)));
    }
    const auto n = static_cast<double>(x.size());
    row.idealSqnrDb = powerRatioDb(signal, step2 / 12);
    row.clippedFraction = double(clipped) / n;
    if (inside > 0)
        row.offByMoreThanHalfStep = double(off) / double(inside);
    if (dtypeBits(params.dtype) <= 8)
        row.usedCodes = double(used.count()) / double(range.high - range.low + 1);
}

void fillChannels(const std::vector<float>& x, const std::vector<float>& y, const Channels& channels, WeightRow& row)
{
    const auto count = static_cast<size_t>(channels.count);
    std::vector<double> signal(count), noise(count);
    row.channelAbsMax.assign(count, 0);
    for (size_t i = 0; i < x.size(); ++i) {
        const size_t c = channels.of(i);
        signal[c] += double(x[i]) * x[i];
        noise[c] += (double(y[i]) - x[i]) * (double(y[i]) - x[i]);
        row.channelAbsMax[c] = std::max(row.channelAbsMax[c], std::fabs(double(x[i])));
    }
    for (size_t c = 0; c < count; ++c)
        row.channelSqnrDb.push_back(powerRatioDb(signal[c], noise[c]));
    auto sorted = row.channelAbsMax;
    std::ranges::sort(sorted);
    const double median = (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
    if (count > 1 && median > 0)
        row.rangeRatio = sorted.back() / median;
}

WeightRow makeRow(const ComparePair& pair, const WeightPair& wp)
{
    const Graph& fg = pair.floatPlan->graph();
    const Graph& qg = pair.quantPlan->graph();
    const Quantizer& q = pair.quantView->quantizers()[wp.quantizer];
    const Tensor& floatTensor = *pair.floatPlan->constant(wp.floatValue);
    const Tensor& codes = *storedCodes(*pair.quantPlan, q);
    WeightRow row;
    row.floatValue = wp.floatValue;
    row.quantizer = wp.quantizer;
    row.name = fg.value(wp.floatValue).name;
    row.quantizedName = qg.value(q.shown()).name;
    row.floatNode = wp.floatNode;
    row.quantNode = wp.quantNode;
    row.node = fg.node(wp.floatNode).name;
    row.opType = fg.node(wp.floatNode).opType;
    row.bias = q.role == QuantRole::Bias;
    row.params = q.params;
    row.shape = floatTensor.shape();
    row.method = wp.method;
    row.confidence = wp.confidence;
    const auto x = toFloats(floatTensor);
    auto y = dequantized(codes, q.params);
    Channels scales = channelsOf(codes.shape(), q.params.axis.value_or(0));
    if (wp.transposed && codes.rank() == 2) {
        Tensor t = Tensor::of<float>(codes.shape(), y);
        y = toFloats(transposed(t));
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
    row.channelAxis = outputAxis(fg.node(wp.floatNode), row.shape, row.bias);
    const Channels channels = channelsOf(row.shape, row.channelAxis);
    fillChannels(x, y, channels, row);
    if (!row.bias && row.shape.size() >= 2) {
        row.perTensorSqnrDb = powerRatioDb(sums.xx, symmetricNoise(x, row.channelAbsMax, channels, false));
        row.perChannelSqnrDb = powerRatioDb(sums.xx, symmetricNoise(x, row.channelAbsMax, channels, true));
    }
    row.floatHistogram.add(x);
    row.quantHistogram.add(y);
    return row;
}

} // namespace

void fillWeights(const ComparePair& pair, Comparison& result)
{
    for (const WeightPair& wp : pair.alignment->weights)
        result.weights.push_back(makeRow(pair, wp));
}

} // namespace qs
