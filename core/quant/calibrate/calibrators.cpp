// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/calibrate/calibrators.h"

#include "core/kernels/statistics/numpy_sums.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace qs {

namespace {

float inType(double value, DType type)
{
    const auto rounded = static_cast<float>(value);
    return type == DType::Float16 ? float16ToFloat(floatToFloat16(rounded)) : rounded;
}

Interval intervalOf(const ValueRange& range) { return { range.low, range.high }; }

/// numpy.nanmean of the runs' extremes.
float meanOf(std::span<const ValueRange> runs, float ValueRange::*extreme, DType type)
{
    std::vector<float> values;
    for (const ValueRange& run : runs)
        values.push_back(run.*extreme);
    const float sum = inType(numpySum<float>(values), type);
    return inType(static_cast<double>(sum) / static_cast<double>(values.size()), type);
}

/// The interval of one chunk; nothing when no run of it is left.
std::optional<Interval> chunkInterval(std::vector<ValueRange> runs, const CalibratorOptions& options, DType type)
{
    if (options.maxIntermediateOutputs)
        runs.erase(runs.begin(), runs.end() - std::ptrdiff_t(runs.size() % options.maxIntermediateOutputs));
    std::erase_if(runs, [](const ValueRange& run) { return run.empty(); });
    if (runs.empty())
        return std::nullopt;
    Interval interval;
    if (options.kind == Calibrator::MovingAverage) {
        interval = { meanOf(runs, &ValueRange::low, type), meanOf(runs, &ValueRange::high, type) };
    } else {
        ValueRange all;
        for (const ValueRange& run : runs)
            all.merge(run);
        interval = intervalOf(all);
    }
    if (options.symmetric.value_or(false)) {
        const float most = std::max(std::fabs(interval.low), std::fabs(interval.high));
        interval = { -most, most };
    }
    return interval;
}

std::optional<Interval> extremes(const TensorStatistics& tensor, const CalibratorOptions& options)
{
    const std::vector<ValueRange>& feeds = tensor.feeds;
    const size_t stride = options.stride ? options.stride : feeds.size();
    std::optional<Interval> merged;
    for (size_t begin = 0; begin < feeds.size(); begin += stride) {
        const auto at = feeds.begin() + std::ptrdiff_t(begin);
        const auto next = chunkInterval({ at, at + std::ptrdiff_t(stride) }, options, tensor.dtype);
        if (!merged || !next) {
            merged = merged ? merged : next;
        } else if (options.kind == Calibrator::MovingAverage) {
            const float c = inType(options.averagingConstant, tensor.dtype);
            auto towards = [&](float from, float to) {
                const float step = inType(c * inType(to - from, tensor.dtype), tensor.dtype);
                return inType(from + step, tensor.dtype);
            };
            merged = { { towards(merged->low, next->low), towards(merged->high, next->high) } };
        } else {
            merged = { { std::min(merged->low, next->low), std::max(merged->high, next->high) } };
        }
    }
    return merged;
}

/// A histogram as the collector has it.
struct Counted {
    std::span<const uint64_t> counts;
    std::vector<float> edges;
};

std::optional<Counted> histogramOf(const CalibrationData& data, const TensorStatistics& tensor, HistogramKind kind)
{
    const auto counts = tensor.counts.find(kind);
    if (counts == tensor.counts.end())
        return std::nullopt;
    return Counted { counts->second, data.bins(tensor, kind).edges() };
}

/// First bin at which the cumulated share reaches `share`: its left edge.
float edgeAt(const Counted& histogram, const std::vector<double>& shares, double share)
{
    // With nothing counted the shares are NaN, which ends the search at the first, as NumPy's does.
    const auto at = std::lower_bound(shares.begin(), shares.end(), share);
    return histogram.edges[size_t(at - shares.begin())];
}

Interval percentileCut(const Counted& histogram, const CalibratorOptions& options)
{
    const auto total = static_cast<double>(std::reduce(histogram.counts.begin(), histogram.counts.end(), uint64_t(0)));
    std::vector<double> shares;
    double sum = 0;
    for (const uint64_t count : histogram.counts)
        shares.push_back(sum += static_cast<double>(count) / total);
    if (options.symmetric.value_or(true)) {
        const float edge = edgeAt(histogram, shares, options.percentile / 100.0);
        return { -edge, edge };
    }
    const double oneSide = (100.0 - options.percentile) / 200.0;
    return { edgeAt(histogram, shares, oneSide), edgeAt(histogram, shares, 1.0 - oneSide) };
}

Interval clampedTo(Interval interval, const ValueRange& range)
{
    return { std::max(interval.low, range.low), std::min(interval.high, range.high) };
}

/// Average and deviation of a histogram's middles, as ONNX Runtime computes them for float8.
TensorRange distribution(const Counted& histogram, const CalibratorOptions& options, DType type)
{
    std::vector<double> weighted, squares;
    double total = 0;
    for (size_t i = 0; i < histogram.counts.size(); ++i) {
        float middle = inType(inType(histogram.edges[i] + histogram.edges[i + 1], type) * 0.5f, type);
        if (options.cubeRoot)
            middle = inType(std::copysign(std::pow(std::fabs(middle), inType(1.0 / 3.0, type)), middle), type);
        const auto count = static_cast<double>(histogram.counts[i]);
        weighted.push_back(count * middle);
        squares.push_back(count * inType(middle * middle, type));
        total += count;
    }
    const double average = numpySum<double>(weighted) / total;
    const double deviation = std::sqrt(numpySum<double>(squares) / total - average * average);
    TensorRange range;
    range.lowest = histogram.edges.front();
    range.highest = histogram.edges.back();
    range.average = inType(average, type);
    range.deviation = inType(deviation, type);
    return range;
}

TensorRange rangeOf(const CalibrationData& data, const TensorStatistics& tensor, const CalibratorOptions& options)
{
    const ValueRange all = tensor.range();
    if (all.empty()) // as ONNX Runtime has it: the scale is 1
        return { .dtype = tensor.dtype, .shape = { 1 } };
    Interval interval = intervalOf(all);
    const CollectOptions needed = neededBy(options);
    std::optional<Counted> histogram;
    if (needed.cut)
        histogram = histogramOf(data, tensor, { needed.cut->magnitudes, needed.cut->bins });
    else if (!needed.histograms.empty())
        histogram = histogramOf(data, tensor, needed.histograms.front());
    TensorRange range;
    switch (options.kind) {
    case Calibrator::MinMax:
    case Calibrator::MovingAverage:
        interval = extremes(tensor, options).value_or(interval);
        range.shape = { 1 };
        break;
    case Calibrator::Percentile:
        if (histogram)
            interval = clampedTo(percentileCut(*histogram, options), all);
        else if (tensor.cut && needed.cut == data.collected.cut)
            interval = clampedTo(*tensor.cut, all);
        break;
    case Calibrator::Entropy:
        if (histogram)
            interval
                = clampedTo(entropyCut(histogram->counts, histogram->edges, options.quantizedBins, tensor.dtype), all);
        break;
    case Calibrator::Distribution:
        if (histogram)
            range = distribution(*histogram, options, tensor.dtype);
        if (histogram)
            interval = { range.lowest, range.highest };
        break;
    case Calibrator::Mse:
        if (!tensor.extreme())
            interval = leastSquaresCut(tensor.powers, options.mseLevels.value_or(kMseLevels));
        break;
    }
    range.dtype = tensor.dtype;
    range.lowest = inType(interval.low, tensor.dtype);
    range.highest = inType(interval.high, tensor.dtype);
    range.extreme = tensor.extreme();
    return range;
}

Status check(const CalibrationData& data, const CalibratorOptions& options)
{
    if (!(options.percentile >= 0 && options.percentile <= 100))
        return badUse("the percentile is not between 0 and 100", "give one such as 99.99");
    if (!(options.averagingConstant >= 0 && options.averagingConstant <= 1))
        return badUse("the averaging constant is not between 0 and 1", "give one such as 0.01");
    if (options.quantizedBins < 2 || options.mseLevels.value_or(kMseLevels) < 1)
        return badUse("too few quantized levels", "use at least 2 quantized bins and 1 step");
    const bool entropy = options.kind == Calibrator::Entropy;
    if (options.bins && (*options.bins < 2 || *options.bins > kMostChunkedBins))
        return badUse("a histogram cannot have " + std::to_string(*options.bins) + " bins",
            "use between 2 and " + std::to_string(kMostChunkedBins));
    if (entropy && options.bins.value_or(128) / 2 < options.quantizedBins / 2)
        return badUse("the entropy search needs at least as many bins as quantized bins", "use more bins");
    if (options.kind == Calibrator::Distribution && options.bins.value_or(2048) < 512)
        return badUse("the distribution needs at least 512 bins", "use more bins");
    if (options.stride && data.feeds % options.stride)
        return badUse("the stride of " + std::to_string(options.stride) + " samples does not divide the "
                + std::to_string(data.feeds) + " samples",
            "use a stride that divides their number");
    if (!data.covers(options))
        return internalError("the calibration data lack the histograms for this calibrator");
    return {};
}

} // namespace

CalibratorOptions forCodes(CalibratorOptions options, DType type)
{
    const auto codes = codeRange(type);
    if (options.kind == Calibrator::Mse && !options.mseLevels && codes)
        options.mseLevels = static_cast<int>(codes->high - codes->low);
    return options;
}

Result<Ranges> rangesFor(const CalibrationData& data, const CalibratorOptions& options)
{
    QS_CHECK(check(data, options));
    Ranges ranges;
    ranges.calibrator = options.kind;
    for (const TensorStatistics& tensor : data.tensors) {
        const bool usesExtremes = options.kind == Calibrator::MinMax || options.kind == Calibrator::MovingAverage;
        if (usesExtremes && !tensor.range().empty() && !extremes(tensor, options))
            return badInput("no sample is left to calibrate with: the samples so far are forgotten each time "
                    + std::to_string(options.maxIntermediateOutputs) + " are reached",
                {}, "use a number of samples that this does not divide, or leave the option out");
        ranges.tensors.emplace(tensor.name, rangeOf(data, tensor, options));
    }
    return ranges;
}

} // namespace qs
