// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/lab/range_candidates.h"

#include "core/quant/calibrate/calibrators.h"
#include "core/quant/params/scale.h"
#include "core/quant/recipe/recipe_ranges.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

constexpr size_t kEntropyBins = 128; ///< as many as that calibrator has by default

const QuantOverride* overrideOf(const Recipe& recipe, const std::string& tensor)
{
    const auto it = recipe.tensors.find(tensor);
    return it == recipe.tensors.end() || it->second.parts.empty() ? nullptr : &it->second.parts.front();
}

/// Left edge of the first bin at which the cumulated share is reached.
double edgeAt(const Histogram& histogram, double share)
{
    const double wanted = share * double(histogram.total());
    double sum = 0;
    for (size_t i = 0; i < histogram.counts().size(); ++i) {
        sum += double(histogram.counts()[i]);
        if (sum >= wanted)
            return histogram.low() + double(i) * histogram.binWidth();
    }
    return histogram.largest();
}

Interval percentileOf(const Histogram& histogram, double percentile)
{
    const double oneSide = (100 - percentile) / 200;
    return { float(edgeAt(histogram, oneSide)), float(edgeAt(histogram, 1 - oneSide)) };
}

/// Bins around zero, as the entropy calibrator has them.
Interval entropyOf(const Histogram& histogram, size_t quantizedBins)
{
    const double reach = std::max(std::fabs(histogram.smallest()), std::fabs(histogram.largest()));
    if (!(reach > 0))
        return {};
    std::vector<uint64_t> counts(kEntropyBins, 0);
    std::vector<float> edges;
    for (size_t i = 0; i <= kEntropyBins; ++i)
        edges.push_back(float(reach * (2 * double(i) / kEntropyBins - 1)));
    for (size_t i = 0; i < histogram.counts().size(); ++i) {
        const double middle = histogram.low() + (double(i) + 0.5) * histogram.binWidth();
        const double at = (middle + reach) / (2 * reach) * kEntropyBins;
        counts[size_t(std::clamp(at, 0.0, double(kEntropyBins - 1)))] += histogram.counts()[i];
    }
    return entropyCut(counts, edges, quantizedBins);
}

std::optional<Interval> fromComparison(const Histogram& histogram, const CalibratorOptions& calibrator)
{
    if (histogram.empty())
        return std::nullopt;
    const Interval all { float(histogram.smallest()), float(histogram.largest()) };
    Interval interval = all;
    if (calibrator.kind == Calibrator::Percentile)
        interval = percentileOf(histogram, calibrator.percentile);
    else if (calibrator.kind == Calibrator::Entropy)
        interval = entropyOf(histogram, calibrator.quantizedBins);
    else if (calibrator.kind == Calibrator::Mse)
        interval = leastSquaresCut(histogram, calibrator.mseLevels.value_or(kMseLevels));
    return Interval { std::max(interval.low, all.low), std::min(interval.high, all.high) };
}

std::optional<Interval> fromCalibration(
    const std::string& tensor, const CalibrationData& seen, const CalibratorOptions& calibrator)
{
    const Result<TensorRange> range = rangeBy(tensor, seen, calibrator);
    return range ? std::optional(Interval { range->lowest, range->highest }) : std::nullopt;
}

} // namespace

bool symmetricRange(const Recipe& recipe, const std::string& tensor)
{
    const QuantOverride* asked = overrideOf(recipe, tensor);
    return asked && asked->symmetric ? *asked->symmetric : recipe.symmetricActivations;
}

QuantParams paramsForRange(const ActivationRow& row, const Recipe& recipe, double lowest, double highest)
{
    ScaleRules rules;
    rules.type = row.params.dtype;
    rules.symmetric = symmetricRange(recipe, row.name);
    rules.minimumRange = recipe.minimumRange;
    rules.restricted = recipe.restrictedAsymmetric;
    const ScaleZero found = scaleAndZeroPoint(lowest, highest, rules); // as the quantizer takes what is given
    QuantParams params;
    params.dtype = row.params.dtype;
    params.scale = { found.scale };
    params.zeroPoint = { found.zeroPoint };
    return params;
}

std::optional<RangeCandidate> rangeCandidate(
    const ActivationRow& row, const Recipe& recipe, const CalibrationData* calibration, Calibrator calibrator)
{
    if (!row.params.perTensor() || row.dynamic || !isInteger(row.params.dtype))
        return std::nullopt;
    RangeCandidate candidate;
    candidate.calibrator = recipe.calibration;
    candidate.calibrator.kind = calibrator;
    const CalibratorOptions typed = forCodes(candidate.calibrator, row.params.dtype);
    std::optional<Interval> range;
    if (calibration)
        range = fromCalibration(row.name, *calibration, typed);
    if (!range)
        range = fromComparison(row.floatHistogram, typed);
    if (!range || !(range->high > range->low))
        return std::nullopt;
    candidate.lowest = range->low;
    candidate.highest = range->high;
    const auto noise = predictNoise(row, paramsForRange(row, recipe, range->low, range->high));
    if (!noise)
        return std::nullopt;
    candidate.noise = *noise;
    return candidate;
}

std::vector<RangeCandidate> rangeCandidates(
    const ActivationRow& row, const Recipe& recipe, const CalibrationData* calibration)
{
    std::vector<RangeCandidate> candidates;
    for (const Calibrator calibrator :
        { Calibrator::MinMax, Calibrator::Percentile, Calibrator::Entropy, Calibrator::Mse })
        if (const auto candidate = rangeCandidate(row, recipe, calibration, calibrator))
            candidates.push_back(*candidate);
    return candidates;
}

} // namespace qs
