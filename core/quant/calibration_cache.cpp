// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/calibration_cache.h"

#include "core/base/atomic_file.h"
#include "core/base/whole_file.h"
#include "core/engine/content_key.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <type_traits>

namespace qs {

namespace {

constexpr std::string_view kMagic = "QSCALIB1"; ///< the digit is the version
constexpr size_t kHeader = 8 + sizeof(Hash128);

/// Numbers as they lie in memory, lists with their length in front. Reads the same calls back; reading past the end
/// makes it bad and gives zeros.
class Writer {
public:
    static constexpr bool kReads = false;
    template <class T> void number(T& value)
    {
        static_assert(std::is_trivially_copyable_v<T>);
        m_bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    template <class T> void items(std::vector<T>& list) { size(list.size()); }
    void size(uint64_t n) { number(n); }
    void text(std::string& value)
    {
        size(value.size());
        m_bytes += value;
    }
    bool good() const { return true; }
    std::string bytes() && { return std::move(m_bytes); }

private:
    std::string m_bytes;
};

class Reader {
public:
    static constexpr bool kReads = true;
    explicit Reader(std::string_view bytes)
        : m_bytes(bytes)
    {
    }
    template <class T> void number(T& value)
    {
        value = T {};
        if (m_bytes.size() < sizeof value) {
            m_good = false;
            return;
        }
        std::memcpy(&value, m_bytes.data(), sizeof value);
        m_bytes.remove_prefix(sizeof value);
    }
    /// Each item takes a byte at least, so that a damaged length allocates no more than the file has.
    template <class T> void items(std::vector<T>& list)
    {
        uint64_t n = 0;
        number(n);
        m_good = m_good && n <= m_bytes.size();
        list.resize(m_good ? n : 0);
    }
    void text(std::string& value)
    {
        std::vector<char> characters;
        items(characters);
        value.assign(m_bytes.substr(0, characters.size()));
        m_bytes.remove_prefix(characters.size());
    }
    bool good() const { return m_good; }
    bool atEnd() const { return m_bytes.empty(); }

private:
    std::string_view m_bytes;
    bool m_good = true;
};

template <class Archive> void archive(Archive& a, HistogramKind& kind)
{
    a.number(kind.magnitudes);
    a.number(kind.bins);
}

template <class Archive, class T, class Each> void optional(Archive& a, std::optional<T>& value, const Each& each)
{
    uint8_t present = value.has_value();
    a.number(present);
    if (present && !value)
        value.emplace();
    if (present)
        each(*value);
}

template <class Archive> void archive(Archive& a, CollectOptions& options)
{
    a.items(options.histograms);
    for (HistogramKind& kind : options.histograms)
        archive(a, kind);
    optional(a, options.cut, [&](PercentileCut& cut) {
        a.number(cut.magnitudes);
        a.number(cut.bins);
        a.number(cut.percentile);
    });
    a.number(options.powers);
    a.number(options.stride);
}

/// A histogram is made anew from its bins: these follow from the extremes alone.
template <class Archive> void archive(Archive& a, Histogram& histogram)
{
    std::vector<uint64_t> counts = histogram.counts();
    auto low = static_cast<float>(histogram.smallest()), high = static_cast<float>(histogram.largest());
    uint64_t nonFinite = histogram.nonFinite();
    a.number(low);
    a.number(high);
    a.number(nonFinite);
    a.items(counts);
    for (uint64_t& count : counts)
        a.number(count);
    if constexpr (Archive::kReads) {
        if (nonFinite)
            histogram.add(std::numeric_limits<float>::infinity(), nonFinite);
        if (counts.empty() || !(low <= high) || counts.front() == 0 || counts.back() == 0)
            return;
        const bool one = counts.size() == 1 && low < high;
        histogram.add(low, one ? counts.front() - 1 : counts.front());
        if (one || counts.size() > 1)
            histogram.add(high, one ? 1 : counts.back());
        const double left = histogram.low(), width = histogram.binWidth();
        for (size_t i = 1; i + 1 < counts.size(); ++i)
            if (counts[i])
                histogram.add(static_cast<float>(left + static_cast<double>(i) * width), counts[i]);
    }
}

template <class Archive> void archive(Archive& a, TensorStatistics& tensor)
{
    a.text(tensor.name);
    a.number(tensor.dtype);
    a.items(tensor.feeds);
    for (ValueRange& feed : tensor.feeds)
        for (float* part : { &feed.low, &feed.high, &feed.least })
            a.number(*part);
    a.number(tensor.gap.below);
    a.number(tensor.gap.above);
    archive(a, tensor.powers);
    optional(a, tensor.cut, [&](Interval& cut) {
        a.number(cut.low);
        a.number(cut.high);
    });
    std::vector<HistogramKind> kinds;
    for (const auto& [kind, counts] : tensor.counts)
        kinds.push_back(kind);
    a.items(kinds);
    for (HistogramKind& kind : kinds) {
        archive(a, kind);
        std::vector<uint64_t>& counts = tensor.counts[kind];
        a.items(counts);
        for (uint64_t& count : counts)
            a.number(count);
    }
}

template <class Archive> void archive(Archive& a, CalibrationData& data)
{
    archive(a, data.collected);
    a.number(data.feeds);
    a.items(data.tensors);
    for (TensorStatistics& tensor : data.tensors)
        if (a.good())
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

Hash128 hashOf(std::string_view bytes) { return hashText(bytes); }

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
    Writer writer;
    CollectOptions copy = options;
    archive(writer, copy);
    key.add(hashOf(std::move(writer).bytes()));
    for (size_t i = 0; i < run.data->feeds(); ++i) {
        QS_TRY(const Feed feed, run.data->feed(i));
        key.add(sampleKey(feed.inputs));
    }
    return std::optional(key.key());
}

std::string calibrationBytes(const CalibrationData& data, Hash128 key)
{
    Writer writer;
    CalibrationData copy = data;
    archive(writer, copy);
    std::string bytes = std::string(kMagic) + keyText(key) + std::move(writer).bytes();
    return bytes + keyText(hashOf(bytes));
}

Status saveCalibration(const CalibrationData& data, Hash128 key, const std::string& path)
{
    QS_TRY(AtomicFile file, AtomicFile::create(path));
    QS_CHECK(file.write(calibrationBytes(data, key)));
    return file.commit();
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
    if (bytes.substr(content.size()) != keyText(hashOf(content)))
        return damaged;
    if (content.substr(kMagic.size(), sizeof(Hash128)) != keyText(key))
        return badInput("holds the calibration of another model, other data or other options", path, remedy);
    Reader reader(content.substr(kHeader));
    CalibrationData data;
    archive(reader, data);
    if (!reader.good() || !reader.atEnd() || !consistent(data))
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
