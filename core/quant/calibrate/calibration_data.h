// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/hash.h"
#include "core/kernels/statistics/value_range.h"
#include "core/quant/calibrate/calibrator_options.h"
#include "core/stats/chunked_bins.h"
#include "core/stats/histogram.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace qs {

/// A histogram in ONNX Runtime's arithmetic.
struct HistogramKind {
    bool magnitudes = false; ///< |x|, else signed
    size_t bins = 2048; ///< of the first chunk
    auto operator<=>(const HistogramKind&) const = default;
};

/// Lowest and highest value of a range.
struct Interval {
    float low = 0;
    float high = 0;
    bool operator==(const Interval&) const = default;
};

/// One percentile of a histogram. It needs no second pass where few values lie beyond it.
struct PercentileCut {
    bool magnitudes = false;
    size_t bins = 2048;
    double percentile = 99.999;
    bool operator==(const PercentileCut&) const = default;
};

/// What is gathered beside the extremes.
struct CollectOptions {
    std::vector<HistogramKind> histograms; ///< a second pass: their bins follow from the extremes
    std::optional<PercentileCut> cut; ///< of a single chunk; where it fails, its histogram takes its place
    bool powers = false; ///< bins of power-of-two width (Histogram), in the first pass
    size_t stride = 0; ///< as CalibratorOptions
    bool operator==(const CollectOptions&) const = default;
};

/// What a calibrator needs.
CollectOptions neededBy(const CalibratorOptions& options);
/// What every calibrator needs whatever its percentile: all histograms, which take a second pass.
CollectOptions neededByAll(size_t stride = 0);
/// What every calibrator needs with its default options, as far as one pass finds it (without a stride: all of it).
CollectOptions neededByDefaults(size_t stride = 0);
/// Nothing that is needed was not gathered.
bool includes(const CollectOptions& gathered, const CollectOptions& needed);
/// What serves both, when they take samples in chunks of one size; else what `needed` asks for.
CollectOptions both(const CollectOptions& needed, const CollectOptions& also);

/// Everything that was seen of one tensor. Flat in the number of samples but for a few bytes each.
struct TensorStatistics {
    std::string name;
    DType dtype = DType::Float32;
    std::vector<ValueRange> feeds; ///< of each run; empty range: no elements
    MagnitudeGap gap; ///< around kGapLimit
    Histogram powers;
    std::optional<Interval> cut; ///< not yet limited to the range
    std::map<HistogramKind, std::vector<uint64_t>> counts; ///< none where the bins do not exist (see ChunkedBins)

    ValueRange range() const; ///< of all runs
    bool extreme() const; ///< see TensorRange
};

/// Statistics of a model's activations: any calibrator is computed from them without running the model again.
struct CalibrationData {
    CollectOptions collected;
    size_t feeds = 0; ///< runs of the model: what ONNX Runtime calls samples
    std::vector<TensorStatistics> tensors;

    size_t chunks() const;
    /// Extremes of each chunk of runs.
    std::vector<ValueRange> chunkRanges(const TensorStatistics& tensor) const;
    /// Bins of a histogram, as they are in `counts`.
    ChunkedBins bins(const TensorStatistics& tensor, HistogramKind kind) const;
    /// A calibrator with these options finds all it needs.
    bool covers(const CalibratorOptions& options) const;
    /// Those of these tensors that were not looked at, in their order.
    std::vector<std::string> lacking(const std::vector<std::string>& names) const;
};

constexpr float kGapLimit = 1024; ///< magnitudes of activations rarely reach it

} // namespace qs
