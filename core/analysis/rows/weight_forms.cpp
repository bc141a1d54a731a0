// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/rows/weight_forms.h"

#include "core/analysis/measure/weight_grid.h"
#include "core/quant/params/float8.h"
#include "core/quant/params/weights.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace qs {

namespace {

DType signedType(DType type)
{
    switch (type) {
    case DType::UInt2:
        return DType::Int2;
    case DType::UInt4:
        return DType::Int4;
    case DType::UInt8:
        return DType::Int8;
    case DType::UInt16:
        return DType::Int16;
    default:
        return type;
    }
}

bool allZeroPoints(const QuantParams& params, int32_t value)
{
    return std::ranges::all_of(params.zeroPoint, [&](int32_t z) { return z == value; });
}

/// The codes stay within one bit less than the type has, and reach to its end.
bool usesReducedRange(const QuantParams& params, const Tensor& codes)
{
    if (params.bits() != 8 || codes.count() == 0)
        return false;
    const auto values = toInts(codes);
    const auto [low, high] = std::ranges::minmax_element(values);
    const CodeRange reduced = targetCodes(params.dtype, false, true);
    const int64_t furthest = isSigned(params.dtype) ? std::max(-*low, *high) : *high;
    return *low >= reduced.low && furthest <= reduced.high && furthest >= reduced.high - 1;
}

/// Squared error of rounding x to the codes of one scale, in float32 as the quantizer rounds.
double codeNoise(std::span<const float> x, float scale, float lowestStep, float highestStep)
{
    constexpr float kRound = 0x1.8p23f; // sums near it are whole numbers
    if (!(scale > 0))
        return 0;
    return sumOf(0, x.size(), [&](size_t i) {
        const float steps = std::min(std::max(x[i] / scale, lowestStep), highestStep) + kRound - kRound;
        const float error = steps * scale - x[i];
        return double(error) * double(error);
    });
}

double noiseOn(const Tensor& weight, const QuantParams& params, bool oneMoreBit)
{
    const auto x = weight.data<float>();
    double noise = 0;
    const auto codes = params.codes();
    const WeightGrid grid(weight.shape(), params);
    grid.eachRun(x.size(), [&](size_t s, size_t begin, size_t n) {
        if (!isInteger(params.dtype)) {
            noise += sumOf(begin, begin + n, [&](size_t i) {
                const double error = nearestOnGrid(params, s, x[i]) - x[i];
                return error * error;
            });
            return;
        }
        const auto zero = static_cast<float>(params.zero(s));
        float scale = params.scale[s], low = float(codes.low) - zero, high = float(codes.high) - zero;
        if (oneMoreBit) { // twice as many codes between the same ends
            const float width = high - low;
            scale *= width / (2 * width + 1);
            low *= 2;
            high = 2 * high + 1;
        }
        noise += codeNoise(x.subspan(begin, n), scale, low, high);
    });
    return noise;
}

/// The weight as a matrix with its channels along one axis; the other axis is the one that sums run over.
std::optional<std::pair<Tensor, int64_t>> asMatrix(const Tensor& weight, int64_t channelAxis)
{
    const int64_t channels = weight.dim(size_t(channelAxis)), rest = weight.count() / std::max<int64_t>(channels, 1);
    if (channelAxis == 0)
        return std::pair(weight.reshaped({ channels, rest }), int64_t(1));
    if (channelAxis + 1 == int64_t(weight.rank()))
        return std::pair(weight.reshaped({ rest, channels }), int64_t(0));
    return std::nullopt;
}

} // namespace

WeightForm weightForm(const QuantParams& params, const Tensor& codes)
{
    WeightForm form { params.dtype, true, false, params.kept };
    if (!isInteger(params.dtype))
        return form;
    form.reduced = usesReducedRange(params, codes);
    if (isSigned(params.dtype)) {
        form.symmetric = allZeroPoints(params, 0);
        return form;
    }
    // A single zero point may lie in the middle by chance.
    form.symmetric
        = !params.kept && !params.perTensor() && allZeroPoints(params, int32_t(1) << (dtypeBits(params.dtype) - 1));
    if (form.symmetric)
        form.type = signedType(params.dtype);
    return form;
}

std::optional<double> formNoise(const Tensor& weight, const WeightForm& form, const WeightGranularity& g)
{
    if (!isInteger(form.type) && !isFloat8(form.type))
        return std::nullopt; // the quantizer writes no such codes
    const ScaleRules rules { form.type, DType::Float32, form.symmetric, form.reduced, std::nullopt, false, false,
        form.kept };
    if (g.blockSize == 0) {
        const auto params = weightParams(weight, rules, g.axis);
        return params.ok() ? std::optional(noiseOn(weight, *params, g.oneMoreBit)) : std::nullopt;
    }
    const auto matrix = g.axis && isInteger(form.type) ? asMatrix(weight, *g.axis) : std::nullopt;
    if (!matrix)
        return std::nullopt;
    const auto params = blockedWeightParams(matrix->first, rules, matrix->second, g.blockSize);
    return params.ok() ? std::optional(noiseOn(matrix->first, *params, g.oneMoreBit)) : std::nullopt;
}

FinerWeights finerWeights(
    const Tensor& weight, const WeightForm& form, const QuantParams& own, int64_t axis, double signal)
{
    const auto tried = [&](const WeightForm& f, const WeightGranularity& g) -> Number {
        const auto noise = formNoise(weight, f, g);
        return noise ? powerRatioDb(signal, *noise) : Number();
    };
    const WeightForm eight { DType::Int8, true, false };
    const std::optional<int64_t> channels = own.perTensor() ? std::nullopt : std::optional(axis);
    FinerWeights finer;
    finer.blocks128 = tried(form, { axis, 128, false });
    finer.blocks32 = tried(form, { axis, 32, false });
    if (isInteger(form.type))
        finer.oneMoreBit = tried(form, { channels, own.blockSize, true });
    finer.eightBits = tried(eight, { channels, own.blockSize, false });
    finer.eightBitsPerChannel = tried(eight, { axis, 0, false });
    return finer;
}

} // namespace qs
