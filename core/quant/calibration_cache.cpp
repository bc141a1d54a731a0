// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/calibration_cache.h"

#include "core/base/atomic_file.h"
#include "core/base/byte_stream.h"
#include "core/base/whole_file.h"
#include "core/engine/content_key.h"

#include <algorithm>
#include <filesystem>
#include <limits>

namespace qs {

namespace {

constexpr std::string_view kMagic = "QSCALIB1"; ///< the digit is the version
constexpr size_t kHeader = 8 + sizeof(Hash128);

template <class Stream> void archive(Stream& a, Archived<Stream, HistogramKind>& kind)
{
    a.item(kind.magnitudes);
    a.item(kind.bins);
}

template <class Stream, class T, class Each> void archiveOptional(Stream& a, T& value, const Each& each)
{
    bool present = value.has_value();
    a.item(present);
    if constexpr (Stream::kReads)
        if (present)
            value.emplace();
    if (present)
        each(*value);
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
    std::vector<uint64_t> counts = histogram.counts();
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

/// What later computations rely on.
bool consistent(const CalibrationData& data)
{
    if (data.collected.stride && data.feeds % data.collected.stride)
        return false;
    for (const TensorStatistics& tensor : data.tensors) {
        if (tensor.feeds.size() != data.feeds || (tensor.dtype != DType::Float32 && tensor.dtype != DType::Float16))
            return false;
        for (const auto& [kind, counts] : tensor.counts) {
            if (kind.bins == 0 || kind.bins > kMostChunkedBins)
                return false;
            const ChunkedBins bins = data.bins(tensor, kind);
            if (!bins.valid() || bins.bins() != counts.size())
                return false;
        }
    }
    return true;
}

std::string keyText(Hash128 key) { return { reinterpret_cast<const char*>(&key), sizeof key }; }

/// Nothing where a node has no key.
std::optional<Hash128> graphKey(const Graph& graph)
{
    KeyBuilder key;
    const auto name = [&](ValueId id) { key.add(id.valid() ? graph.value(id).name : std::string()); };
    for (const Value& value : graph.values())
        if (value.initializer)
            key.add(value.name).add(contentKey(*value.initializer));
    std::ranges::for_each(graph.inputs(), name);
    for (const Node& node : graph.nodes()) {
        const auto own = operatorKey(node, KernelMode::Fast, ArithmeticProfile::Simulated);
        if (!own)
            return std::nullopt;
        key.add(*own);
        std::ranges::for_each(node.inputs, name);
        std::ranges::for_each(node.outputs, name);
    }
    return key.key();
}

} // namespace

Result<std::optional<Hash128>> calibrationKey(const CalibrationRun& run, const CollectOptions& options)
{
    const auto graph = graphKey(run.plan->graph());
    if (!graph)
        return std::optional<Hash128>();
    KeyBuilder key;
    key.add(kMagic).add(*graph);
    for (const std::string& tensor : run.tensors)
        key.add(tensor);
    for (const auto& [output, input] : run.carry)
        key.add(output).add(input);
    ByteWriter collected;
    archive(collected, options);
    key.add(hashText(collected.bytes()));
    for (size_t i = 0; i < run.data->feeds(); ++i) {
        QS_TRY(const Feed feed, run.data->feed(i));
        key.add(sampleKey(feed.inputs));
    }
    return std::optional(key.key());
}

std::string calibrationBytes(const CalibrationData& data, Hash128 key)
{
    ByteWriter content;
    archive(content, data);
    const std::string bytes = std::string(kMagic) + keyText(key) + content.bytes();
    return bytes + keyText(hashText(bytes));
}

Status saveCalibration(const CalibrationData& data, Hash128 key, const std::string& path)
{
    return writeFile(path, calibrationBytes(data, key));
}

Result<CalibrationData> parseCalibration(std::string_view bytes, Hash128 key, const std::string& path)
{
    const char* remedy = "calibrate again";
    if (!bytes.starts_with(kMagic.substr(0, kMagic.size() - 1)))
        return badInput("holds no calibration of this program", path, remedy);
    if (!bytes.starts_with(kMagic))
        return badInput("holds a calibration of another version", path, remedy);
    const Issue damaged = badInput("holds a damaged calibration", path, remedy);
    if (bytes.size() < kHeader + sizeof(Hash128))
        return damaged;
    const std::string_view content = bytes.substr(0, bytes.size() - sizeof(Hash128));
    if (bytes.substr(content.size()) != keyText(hashText(content)))
        return damaged;
    if (content.substr(kMagic.size(), sizeof(Hash128)) != keyText(key))
        return badInput("holds the calibration of another model, other data or other options", path, remedy);
    ByteReader reader(content.substr(kHeader));
    CalibrationData data;
    archive(reader, data);
    if (!reader.ok() || !reader.atEnd() || !consistent(data))
        return damaged;
    return data;
}

Result<CalibrationData> loadCalibration(const std::string& path, Hash128 key)
{
    QS_TRY(const std::string bytes, readWholeFile(path, "calibrate again"));
    return parseCalibration(bytes, key, path);
}

Result<CachedCalibration> cachedCalibration(const CalibrationRun& run, const CollectOptions& options,
    const std::string& path, const ProgressFn& progress, const CancelToken& cancel)
{
    CachedCalibration made;
    std::optional<Hash128> key;
    if (!path.empty()) {
        QS_TRY(key, calibrationKey(run, options));
        if (!key)
            return badUse("a calibration cache cannot tell this model's results from others: it computes with random "
                          "numbers or subgraphs",
                "quantize without the cache");
        std::error_code none;
        if (std::filesystem::exists(path, none)) {
            QS_TRY(const std::string bytes, readWholeFile(path, "give another file for the calibration cache"));
            if (!bytes.starts_with(kMagic.substr(0, kMagic.size() - 1)))
                return badInput("holds no calibration of this program, so it is not overwritten", path,
                    "give another file for the calibration cache");
            if (auto known = parseCalibration(bytes, *key, path))
                return CachedCalibration { std::move(*known), true };
        }
    }
    QS_TRY(made.data, collectCalibration(run, options, progress, cancel));
    if (key)
        QS_CHECK(saveCalibration(made.data, *key, path));
    return made;
}

} // namespace qs
