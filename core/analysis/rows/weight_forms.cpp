// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/rows/weight_forms.h"

#include "core/analysis/measure/weight_grid.h"
#include "core/quant/params/float8.h"
#include "core/quant/params/weights.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>
#include <tuple>
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

namespace {

constexpr double kClearly = 1.5; ///< ratio of scales: formats that search for them stay below it for most

/// A scale for the elements that one has, and the ends of its codes, in steps around zero.
struct OwnScale {
    double low = 0, high = 0; ///< of the elements
    size_t count = 0;
    bool kept = false; ///< others share it
    float step = 0, first = 0, last = 0;

    void add(std::span<const float> x)
    {
        for (const float v : x) {
            low = std::min(low, double(v));
            high = std::max(high, double(v));
        }
        count += x.size();
    }
    void find(const ScaleRules& rules, bool blocks)
    {
        const CodeRange codes = rules.kept.value_or(codeRange(rules.type).value_or(CodeRange { 0, 0 }));
        const double most = std::max(-low, high);
        if (rules.symmetric && blocks && codes.low < 0) { // the furthest element has the lowest code
            step = float(most / -double(codes.low));
            first = float(-low >= high ? codes.low : -codes.high);
            last = float(-low >= high ? codes.high : -codes.low);
            return;
        }
        const ScaleZero z = scaleAndZeroPoint(low, high, rules);
        step = most > 0 ? z.scale : 0;
        first = float(codes.low - z.zeroPoint);
        last = float(codes.high - z.zeroPoint);
    }
};

/// Share of all and median of the ratios that are this far from one.
std::pair<double, double> shareAndMedian(std::vector<double> ratios, size_t all)
{
    if (ratios.empty())
        return { 0, 1 };
    const auto middle = ratios.begin() + ptrdiff_t(ratios.size() / 2);
    std::ranges::nth_element(ratios, middle);
    return { double(ratios.size()) / double(all), *middle };
}

/// Lowest and highest code, where all scales have one whole zero point.
std::optional<CodeRange> usedRange(const WeightOnGrid& w)
{
    const auto& zeros = w.params.zeroPoint;
    if (!w.params.zeroRest.empty() || std::ranges::any_of(zeros, [&](int32_t z) { return z != zeros.front(); }))
        return std::nullopt;
    double low = HUGE_VAL, high = -HUGE_VAL;
    w.grid.eachRun(w.y.size(), [&](size_t scale, size_t begin, size_t n) {
        const double s = w.params.scale[std::min(scale, w.params.scale.size() - 1)];
        for (size_t i = begin; i < begin + n && s != 0; ++i) {
            low = std::min(low, w.y[i] / s);
            high = std::max(high, w.y[i] / s);
        }
    });
    if (low > high)
        return std::nullopt;
    const double zero = w.params.zero(0);
    return CodeRange { int64_t(std::nearbyint(low + zero)), int64_t(std::nearbyint(high + zero)) };
}

std::vector<OwnScale> ownScales(const WeightOnGrid& w, const WeightForm& form)
{
    const ScaleRules rules { form.type, DType::Float32, form.symmetric, form.reduced, std::nullopt, false, false,
        form.kept };
    std::vector<OwnScale> scales(w.params.scale.size());
    w.grid.eachRun(w.x.size(), [&](size_t scale, size_t begin, size_t n) {
        scales[std::min(scale, scales.size() - 1)].add(w.x.subspan(begin, n));
    });
    for (size_t s = 0; s < scales.size(); ++s) {
        scales[s].kept = !w.elements.empty() && w.elements[s] != scales[s].count;
        scales[s].find(rules, w.params.blockSize > 0);
    }
    return scales;
}

} // namespace

std::optional<ScalesAnew> scalesAnew(const WeightOnGrid& w, const WeightForm& form)
{
    if (!isInteger(form.type) || dtypeBits(form.type) > 8 || w.params.scale.empty() || w.x.size() != w.y.size())
        return std::nullopt;
    const std::vector<OwnScale> scales = ownScales(w, form);
    double noise = 0;
    w.grid.eachRun(w.x.size(), [&](size_t scale, size_t begin, size_t n) {
        const OwnScale& own = scales[std::min(scale, scales.size() - 1)];
        if (!own.kept) {
            noise += codeNoise(w.x.subspan(begin, n), own.step, own.first, own.last);
            return;
        }
        for (size_t i = begin; i < begin + n; ++i)
            noise += (double(w.y[i]) - w.x[i]) * (double(w.y[i]) - w.x[i]);
    });
    std::vector<double> wide, narrow;
    size_t all = 0;
    for (size_t s = 0; s < scales.size(); ++s) {
        if (scales[s].kept || !(scales[s].step > 0) || w.params.scale[s] == 0)
            continue;
        ++all;
        const double ratio = std::fabs(double(w.params.scale[s])) / scales[s].step;
        if (ratio >= kClearly)
            wide.push_back(ratio);
        else if (ratio <= 1 / kClearly)
            narrow.push_back(ratio);
    }
    ScalesAnew anew { powerRatioDb(w.signal, noise) };
    std::tie(anew.wideShare, anew.wideFactor) = shareAndMedian(std::move(wide), all);
    std::tie(anew.narrowShare, anew.narrowFactor) = shareAndMedian(std::move(narrow), all);
    anew.used = usedRange(w);
    return anew;
}

} // namespace qs
