// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/calibrate/calibration_data.h"

#include "core/quant/calibrate/entropy_search.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <unordered_set>
#include <utility>

namespace qs {

namespace {

constexpr size_t kPercentileBins = 2048;
constexpr size_t kEntropyBins = 128;
constexpr float kAlwaysExtreme = 1e9f;
constexpr float kGapFactor = 100; ///< between ordinary and extreme magnitudes lies at least this

HistogramKind kindOf(const PercentileCut& cut) { return { cut.magnitudes, cut.bins }; }

bool holds(const CollectOptions& gathered, const HistogramKind& kind)
{
    return std::ranges::find(gathered.histograms, kind) != gathered.histograms.end();
}

void addKind(CollectOptions& options, const HistogramKind& kind)
{
    if (!holds(options, kind))
        options.histograms.push_back(kind);
}

} // namespace

bool oneCandidate(const CalibratorOptions& options)
{
    return options.stride == 0 && options.bins.value_or(kEntropyBins) / 2 <= options.quantizedBins / 2;
}

CollectOptions neededBy(const CalibratorOptions& options)
{
    CollectOptions needed;
    needed.stride = options.stride;
    switch (options.kind) {
    case Calibrator::MinMax:
    case Calibrator::MovingAverage:
        break;
    case Calibrator::Percentile:
        needed.cut = { options.symmetric.value_or(true), options.bins.value_or(kPercentileBins), options.percentile };
        if (options.stride) // of a single chunk alone
            needed.histograms = { kindOf(*std::exchange(needed.cut, std::nullopt)) };
        break;
    case Calibrator::Entropy:
        if (!oneCandidate(options))
            needed.histograms = { { false, options.bins.value_or(kEntropyBins) } };
        break;
    case Calibrator::Distribution:
        needed.histograms = { { false, options.bins.value_or(kPercentileBins) } };
        break;
    case Calibrator::Mse:
        needed.powers = true;
        break;
    }
    return needed;
}

CollectOptions neededByAll(size_t stride)
{
    CollectOptions all { { { true, kPercentileBins }, { false, kPercentileBins } }, std::nullopt, true, stride };
    if (stride)
        all.histograms.push_back({ false, kEntropyBins });
    return all;
}

CollectOptions neededByDefaults(size_t stride)
{
    CollectOptions defaults;
    defaults.powers = true;
    defaults.stride = stride;
    if (!stride)
        defaults.cut = neededBy({ Calibrator::Percentile }).cut;
    return defaults;
}

bool includes(const CollectOptions& gathered, const CollectOptions& needed)
{
    if (needed.powers && !gathered.powers)
        return false;
    // Extremes are kept of each run and serve any stride, histograms are counted for one.
    const auto has
        = [&](const HistogramKind& kind) { return gathered.stride == needed.stride && holds(gathered, kind); };
    return (!needed.cut || needed.cut == gathered.cut || has(kindOf(*needed.cut)))
        && std::ranges::all_of(needed.histograms, has);
}

CollectOptions both(const CollectOptions& needed, const CollectOptions& also)
{
    if (needed.stride != also.stride)
        return needed;
    CollectOptions all = needed;
    for (const HistogramKind& kind : also.histograms)
        addKind(all, kind);
    all.powers |= also.powers;
    if (all.cut && also.cut && also.cut != all.cut) { // one percentile alone is looked for without its histogram
        addKind(all, kindOf(*all.cut));
        addKind(all, kindOf(*also.cut));
    }
    if (!all.cut)
        all.cut = also.cut;
    if (all.cut && holds(all, kindOf(*all.cut)))
        all.cut.reset();
    return all;
}

ValueRange TensorStatistics::range() const
{
    ValueRange all;
    for (const ValueRange& feed : feeds)
        all.merge(feed);
    return all;
}

bool TensorStatistics::extreme() const
{
    return range().magnitude() >= kAlwaysExtreme
        || (gap.below > 0 && gap.above < std::numeric_limits<float>::infinity() && gap.above > kGapFactor * gap.below);
}

size_t CalibrationData::chunks() const
{
    return collected.stride ? feeds / collected.stride : std::min<size_t>(feeds, 1);
}

std::vector<ValueRange> CalibrationData::chunkRanges(const TensorStatistics& tensor) const
{
    std::vector<ValueRange> ranges(chunks());
    for (size_t i = 0; i < tensor.feeds.size() && !ranges.empty(); ++i)
        ranges[collected.stride ? i / collected.stride : 0].merge(tensor.feeds[i]);
    return ranges;
}

ChunkedBins CalibrationData::bins(const TensorStatistics& tensor, HistogramKind kind) const
{
    const std::vector<ValueRange> ranges = chunkRanges(tensor);
    return kind.magnitudes ? magnitudeBins(ranges, kind.bins, tensor.dtype)
                           : signedBins(ranges, kind.bins, tensor.dtype);
}

std::vector<std::string> CalibrationData::lacking(const std::vector<std::string>& names) const
{
    std::unordered_set<std::string_view> held;
    for (const TensorStatistics& tensor : tensors)
        held.insert(tensor.name);
    std::vector<std::string> missing;
    std::ranges::copy_if(
        names, std::back_inserter(missing), [&](const std::string& name) { return !held.contains(name); });
    return missing;
}

bool CalibrationData::covers(const CalibratorOptions& options) const { return includes(collected, neededBy(options)); }

} // namespace qs
