// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/calibrate/calibration_cache.h"

#include "core/base/files/atomic_file.h"
#include "core/base/files/byte_stream.h"
#include "core/base/files/whole_file.h"
#include "core/engine/lowered/content_key.h"
#include "core/quant/calibrate/calibration_archive.h"

#include <algorithm>
#include <filesystem>
#include <unordered_set>

namespace qs {

namespace {

constexpr std::string_view kMagic = "QSCALIB2"; ///< the digit is the version
constexpr size_t kHeader = 8 + 2 * sizeof(Hash128);

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

/// Takes out what another recipe asked for.
void keepOnly(CalibrationData& data, const std::vector<std::string>& tensors)
{
    const std::unordered_set<std::string_view> wanted(tensors.begin(), tensors.end());
    std::erase_if(data.tensors, [&](const TensorStatistics& tensor) { return !wanted.contains(tensor.name); });
}

/// The bytes of a cache; nothing where there is none. Issue: the file is something else.
Result<std::optional<std::string>> bytesOfCache(const std::string& path)
{
    std::error_code none;
    if (!std::filesystem::exists(path, none))
        return std::optional<std::string>();
    const char* remedy = "give another file for the calibration cache";
    QS_TRY(std::string bytes, readWholeFile(path, remedy));
    if (!bytes.starts_with(kMagic.substr(0, kMagic.size() - 1)))
        return badInput("holds no calibration of this program, so it is not overwritten", path, remedy);
    return std::optional(std::move(bytes));
}

/// What the file holds of this model and these samples; nothing where it is of others, damaged, or not there.
Result<std::optional<CalibrationData>> heldBy(const std::string& path, const CalibrationKey& key)
{
    QS_TRY(const auto bytes, bytesOfCache(path));
    if (!bytes)
        return std::optional<CalibrationData>();
    auto known = parseCalibration(*bytes, key, path);
    return known ? std::optional(std::move(*known)) : std::nullopt;
}

/// Why the file does not do without data.
Issue needsData(const std::string& path, const CalibrationKey& key, const std::vector<std::string>& lacking)
{
    const char* remedy = "give --data";
    auto held = loadCalibration(path, key);
    if (!held) {
        Issue issue = std::move(held).issue();
        issue.remedy = remedy;
        return issue;
    }
    if (!lacking.empty())
        return { IssueKind::BadInput, "was not looked at in the calibration that " + path + " holds", {}, {},
            lacking.front(), remedy };
    return badInput("holds a calibration without the histograms for this calibrator", path, remedy);
}

/// The key that a cache needs. Issue: there is none.
Result<CalibrationKey> keyForCache(const CalibrationRun& run)
{
    QS_TRY(const auto key, calibrationKey(run));
    if (!key)
        return badUse("a calibration cache cannot tell this model's results from others: it computes with random "
                      "numbers or subgraphs",
            "quantize without the cache");
    return *key;
}

} // namespace

Result<std::optional<CalibrationKey>> calibrationKey(const CalibrationRun& run)
{
    const auto graph = graphKey(run.plan->graph());
    if (!graph)
        return std::optional<CalibrationKey>();
    KeyBuilder model, samples;
    model.add(*graph);
    for (const auto& [output, input] : run.carry)
        model.add(output).add(input);
    if (!run.data)
        return std::optional(CalibrationKey { model.key(), std::nullopt });
    for (size_t i = 0; i < run.data->feeds(); ++i) {
        QS_TRY(const Feed feed, run.data->feed(i));
        samples.add(sampleKey(feed.inputs));
    }
    return std::optional(CalibrationKey { model.key(), samples.key() });
}

std::string calibrationBytes(const CalibrationData& data, const CalibrationKey& key)
{
    ByteWriter content;
    writeCalibrationData(content, data);
    const std::string bytes = std::string(kMagic) + keyText(key.model) + keyText(*key.samples) + content.bytes();
    return bytes + keyText(hashText(bytes));
}

Status saveCalibration(const CalibrationData& data, const CalibrationKey& key, const std::string& path)
{
    return writeFile(path, calibrationBytes(data, key));
}

Result<CalibrationData> parseCalibration(std::string_view bytes, const CalibrationKey& key, const std::string& path)
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
    const std::string_view model = content.substr(kMagic.size(), sizeof(Hash128));
    const std::string_view samples = content.substr(kMagic.size() + sizeof(Hash128), sizeof(Hash128));
    if (model != keyText(key.model))
        return badInput("holds the calibration of another model", path, remedy);
    if (key.samples && samples != keyText(*key.samples))
        return badInput("holds the calibration of other samples", path, remedy);
    ByteReader reader(content.substr(kHeader));
    CalibrationData data = readCalibrationData(reader);
    if (!reader.ok() || !reader.atEnd() || !consistent(data))
        return damaged;
    return data;
}

Result<CalibrationData> loadCalibration(const std::string& path, const CalibrationKey& key)
{
    QS_TRY(const std::string bytes, readWholeFile(path, "calibrate again"));
    return parseCalibration(bytes, key, path);
}

Result<CachedCalibration> cachedCalibration(
    const CalibrationRun& run, const CollectOptions& needed, const std::string& path)
{
    QS_TRY(const CalibrationKey key, keyForCache(run));
    QS_TRY(auto held, heldBy(path, key));
    const std::vector<std::string> lacking = held ? held->lacking(run.tensors) : run.tensors;
    CachedCalibration made;
    made.found = held && lacking.empty() && includes(held->collected, needed);
    if (made.found) {
        made.data = std::move(*held);
    } else if (!run.data) {
        return needsData(path, key, lacking);
    } else {
        CalibrationRun all = run;
        CollectOptions wanted = both(needed, neededByAll(needed.stride));
        if (held) { // what was asked for before may be asked for again
            wanted = both(wanted, held->collected);
            for (const TensorStatistics& tensor : held->tensors)
                all.tensors.push_back(tensor.name); // doubles are taken once
        }
        QS_TRY(made.data, collectCalibration(all, wanted));
        QS_CHECK(saveCalibration(made.data, key, path));
    }
    keepOnly(made.data, run.tensors);
    return made;
}

Status keepInCache(const CalibrationRun& run, const CalibrationData& data, const std::string& path)
{
    if (!run.data)
        return badUse("a calibration cache is found again by its samples", "give --data");
    QS_TRY(const CalibrationKey key, keyForCache(run));
    QS_CHECK(bytesOfCache(path));
    return saveCalibration(data, key, path);
}

} // namespace qs
