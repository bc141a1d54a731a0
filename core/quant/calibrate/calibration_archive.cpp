// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/calibrate/calibration_archive.h"

#include "core/base/files/archived_optional.h"

#include <limits>

namespace qs {

namespace {

template <class Stream> void archive(Stream& a, Archived<Stream, HistogramKind>& kind)
{
    a.item(kind.magnitudes);
    a.item(kind.bins);
}

template <class Stream> void archive(Stream& a, Archived<Stream, CollectOptions>& options)
{
    a.size(options.histograms, sizeof(uint64_t));
    for (auto& kind : options.histograms)
        archive(a, kind);
    archiveOptional(a, options.cut, [&](auto& cut) {
        a.item(cut.magnitudes);
        a.item(cut.bins);
        a.item(cut.percentile);
    });
    a.item(options.powers);
    a.item(options.stride);
}

/// A histogram with these extremes and counts: its bins follow from the extremes alone.
Histogram restored(float low, float high, uint64_t nonFinite, const std::vector<uint64_t>& counts)
{
    Histogram histogram;
    if (nonFinite)
        histogram.add(std::numeric_limits<float>::infinity(), nonFinite);
    if (counts.empty() || !(low <= high) || counts.front() == 0 || counts.back() == 0)
        return histogram;
    const bool one = counts.size() == 1 && low < high;
    histogram.add(low, one ? counts.front() - 1 : counts.front());
    if (one || counts.size() > 1)
        histogram.add(high, one ? 1 : counts.back());
    const double left = histogram.low(), width = histogram.binWidth();
    for (size_t i = 1; i + 1 < counts.size(); ++i)
        if (counts[i])
            histogram.add(static_cast<float>(left + static_cast<double>(i) * width), counts[i]);
    return histogram;
}

template <class Stream> void archive(Stream& a, Archived<Stream, Histogram>& histogram)
{
    std::vector<uint64_t> counts = histogram.counts().toVector();
    auto low = static_cast<float>(histogram.smallest()), high = static_cast<float>(histogram.largest());
    uint64_t nonFinite = histogram.nonFinite();
    a.item(low);
    a.item(high);
    a.item(nonFinite);
    a.item(counts);
    if constexpr (Stream::kReads)
        histogram = restored(low, high, nonFinite, counts);
}

template <class Stream> void archive(Stream& a, Archived<Stream, TensorStatistics>& tensor)
{
    a.item(tensor.name);
    a.item(tensor.dtype);
    a.size(tensor.feeds, 3 * sizeof(float));
    for (auto& feed : tensor.feeds) {
        a.item(feed.low);
        a.item(feed.high);
        a.item(feed.least);
    }
    a.item(tensor.gap.below);
    a.item(tensor.gap.above);
    archive(a, tensor.powers);
    archiveOptional(a, tensor.cut, [&](auto& cut) {
        a.item(cut.low);
        a.item(cut.high);
    });
    std::vector<HistogramKind> kinds;
    for (const auto& [kind, counts] : tensor.counts)
        kinds.push_back(kind);
    a.size(kinds, 2 * sizeof(uint64_t));
    for (HistogramKind& kind : kinds) {
        archive(a, kind);
        if constexpr (Stream::kReads)
            a.item(tensor.counts[kind]);
        else
            a.item(tensor.counts.at(kind));
    }
}

template <class Stream> void archive(Stream& a, Archived<Stream, CalibrationData>& data)
{
    archive(a, data.collected);
    a.item(data.feeds);
    a.size(data.tensors, sizeof(uint64_t));
    for (auto& tensor : data.tensors)
        archive(a, tensor);
}

} // namespace

void writeCalibrationData(ByteWriter& out, const CalibrationData& data) { archive(out, data); }

CalibrationData readCalibrationData(ByteReader& in)
{
    CalibrationData data;
    archive(in, data);
    return data;
}

} // namespace qs
