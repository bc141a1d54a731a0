// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/calibrate/calibration_parts.h"

#include "core/base/files/whole_file.h"
#include "core/base/version.h"
#include "core/engine/lowered/content_key.h"
#include "core/quant/calibrate/calibration_archive.h"

#include <algorithm>

namespace qs {

namespace {

constexpr std::string_view kMagic = "QSCPART1"; ///< the digit is the version
constexpr size_t kMostParts = 1000000;
constexpr size_t kMostFeeds = size_t(1) << 40; ///< so that products with the above fit
const char* const kWhereFrom = "give the files that `quantize --shard I/N --state F` wrote";
const char* const kAlike = "run all shards of one calibration with the same files and options";

void writeHash(ByteWriter& out, Hash128 hash)
{
    out.number(hash.low);
    out.number(hash.high);
}

Hash128 readHash(ByteReader& in)
{
    const auto low = in.number<uint64_t>();
    return { low, in.number<uint64_t>() };
}

Hash128 extremesKey(const CalibrationData& data)
{
    ByteWriter out;
    writeCalibrationData(out, data);
    return hashText(out.bytes());
}

/// A part holds just its own runs, or counts alone.
bool fits(const CalibrationPart& part)
{
    if (part.index < 1 || part.index > part.count || part.count > kMostParts || part.data.feeds == 0
        || part.data.feeds > kMostFeeds)
        return false;
    const CollectOptions& collected = part.data.collected;
    if ((collected.stride && part.data.feeds % collected.stride) || collected.cut)
        return false;
    const size_t runs = part.extremes ? 0 : FeedRange::part(part.data.feeds, part.index, part.count).count;
    return std::ranges::all_of(part.data.tensors, [&](const TensorStatistics& tensor) {
        return tensor.feeds.size() == runs && (part.extremes || tensor.counts.empty())
            && (tensor.dtype == DType::Float32 || tensor.dtype == DType::Float16);
    });
}

bool sameTensors(const CalibrationData& a, const CalibrationData& b)
{
    return std::ranges::equal(
        a.tensors, b.tensors, [](const auto& x, const auto& y) { return x.name == y.name && x.dtype == y.dtype; });
}

/// Why a part does not belong to another one of the same round; empty when it does.
std::string difference(const CalibrationPart& a, const CalibrationPart& b)
{
    if (a.model != b.model)
        return "is of another model, or of another version of this program, than the first shard";
    if (a.samples != b.samples || a.data.feeds != b.data.feeds)
        return "is of other data than the first shard";
    if (a.count != b.count)
        return "is one of " + std::to_string(b.count) + " shards, the first one of " + std::to_string(a.count);
    return sameTensors(a.data, b.data) && a.extremes == b.extremes && a.data.collected == b.data.collected
        ? ""
        : "was calibrated with other options than the first shard";
}

struct PartFile {
    std::string path;
    CalibrationPart part;
};

/// Puts the parts of one round in their order.
Result<std::vector<PartFile>> inOrder(std::vector<PartFile> files)
{
    const size_t count = files.front().part.count;
    std::ranges::stable_sort(files, {}, [](const PartFile& file) { return file.part.index; });
    for (size_t i = 1; i < files.size(); ++i) {
        if (const std::string why = difference(files[0].part, files[i].part); !why.empty())
            return badInput(why, files[i].path, kAlike);
        if (files[i].part.index == files[i - 1].part.index)
            return badInput("is shard " + std::to_string(files[i].part.index) + ", as is " + files[i - 1].path,
                files[i].path, "give each shard once");
    }
    for (size_t i = 0; i < count; ++i)
        if (i >= files.size() || files[i].part.index != i + 1)
            return badInput("shard " + std::to_string(i + 1) + " of " + std::to_string(count) + " is missing",
                files.front().path, "give the state files of all shards");
    return files;
}

CalibrationSum sumOfFirst(std::vector<PartFile> files)
{
    CalibrationPart& first = files.front().part;
    CalibrationSum sum { first.model, first.samples, files.size(), {}, std::move(first.data) };
    for (size_t i = 1; i < files.size(); ++i)
        for (size_t t = 0; t < sum.data.tensors.size(); ++t) {
            TensorStatistics& to = sum.data.tensors[t];
            const TensorStatistics& from = files[i].part.data.tensors[t];
            to.feeds.insert(to.feeds.end(), from.feeds.begin(), from.feeds.end());
            to.gap.below = std::max(to.gap.below, from.gap.below);
            to.gap.above = std::min(to.gap.above, from.gap.above);
            to.powers.merge(from.powers);
        }
    sum.extremes = extremesKey(sum.data);
    return sum;
}

/// Counts over the bins that the extremes say; false where there are others.
bool addCounts(CalibrationData& sum, const CalibrationData& part)
{
    for (size_t t = 0; t < sum.tensors.size(); ++t) {
        TensorStatistics& to = sum.tensors[t];
        for (const auto& [kind, counts] : part.tensors[t].counts) {
            std::vector<uint64_t>& kept = to.counts[kind];
            if (kept.empty() && kind.bins > 0 && kind.bins <= kMostChunkedBins) {
                const ChunkedBins bins = sum.bins(to, kind);
                kept.resize(bins.valid() ? bins.bins() : 0);
            }
            if (kept.empty() || kept.size() != counts.size())
                return false;
            for (size_t b = 0; b < kept.size(); ++b)
                kept[b] += counts[b];
        }
    }
    return true;
}

Status addSecond(CalibrationSum& sum, const std::vector<PartFile>& files)
{
    const CalibrationPart& one = files.front().part;
    if (one.model != sum.model || one.samples != sum.samples || one.count != sum.parts || one.extremes != sum.extremes
        || one.data.feeds != sum.data.feeds || !sameTensors(one.data, sum.data))
        return badInput("counts bins of other extremes than those that are given", files.front().path,
            "run the second round of all shards after the first one of all, with the same options");
    sum.data.collected = one.data.collected;
    for (const PartFile& file : files)
        if (!addCounts(sum.data, file.part.data))
            return badInput("holds counts that do not fit the extremes", file.path, kAlike);
    return {};
}

/// What only the first round looked at goes.
void keepCountsAlone(CalibrationData& data)
{
    for (TensorStatistics& tensor : data.tensors) {
        tensor.feeds.clear();
        tensor.gap = {};
        tensor.powers = {};
    }
}

} // namespace

Result<Hash128> modelIdentity(const CalibrationRun& run)
{
    CalibrationRun without = run;
    without.data = nullptr;
    QS_TRY(const auto known, calibrationKey(without));
    KeyBuilder key;
    key.add(std::string_view(kVersion));
    if (known)
        return key.add(known->model).key();
    QS_TRY(const Hash128 bytes, hashFile(run.plan->model().path, "give the path of a model file"));
    return key.add(bytes).key();
}

Result<Hash128> dataIdentity(const DataSource& data)
{
    KeyBuilder key;
    key.add(int64_t(data.samples()));
    for (const size_t index : { size_t(0), data.feeds() / 2, data.feeds() - 1 }) {
        QS_TRY(const Feed feed, data.feed(index));
        key.add(sampleKey(feed.inputs));
    }
    return key.key();
}

CollectOptions neededOfParts(CollectOptions needed)
{
    if (!needed.cut)
        return needed;
    const HistogramKind kind { needed.cut->magnitudes, needed.cut->bins };
    needed.cut.reset();
    if (std::ranges::find(needed.histograms, kind) == needed.histograms.end())
        needed.histograms.push_back(kind);
    return needed;
}

Result<CalibrationPart> firstRound(
    const CalibrationRun& given, const CollectOptions& needed, size_t index, size_t count)
{
    CalibrationPart part { .index = index, .count = count };
    CalibrationRun run = given;
    run.only = FeedRange::part(run.data->feeds(), index, count);
    QS_TRY(part.model, modelIdentity(run));
    CollectOptions options = neededOfParts(needed);
    options.histograms.clear();
    QS_TRY(part.data, collectCalibration(run, options));
    QS_TRY(part.samples, dataIdentity(*run.data));
    for (TensorStatistics& tensor : part.data.tensors) {
        const auto begin = tensor.feeds.begin() + std::ptrdiff_t(run.only.first);
        tensor.feeds = { begin, begin + std::ptrdiff_t(run.only.count) };
    }
    return part;
}

Result<CalibrationPart> secondRound(
    const CalibrationRun& given, const CollectOptions& needed, const CalibrationSum& first, size_t index)
{
    CalibrationRun run = given;
    run.only = FeedRange::part(run.data->feeds(), index, first.parts);
    CalibrationPart part { .index = index, .count = first.parts, .extremes = first.extremes };
    QS_TRY(part.model, modelIdentity(run));
    QS_TRY(part.samples, dataIdentity(*run.data));
    const CollectOptions options = neededOfParts(needed);
    if (part.model != first.model)
        return badInput("the first round was of another model, or of another version of this program",
            run.plan->model().path, kAlike);
    if (part.samples != first.samples)
        return badInput("the first round was of other data", run.plan->model().path, kAlike);
    if (options.stride != first.data.collected.stride || options.powers != first.data.collected.powers)
        return badInput("the first round was calibrated with other options", run.plan->model().path, kAlike);
    QS_TRY(part.data, countCalibration(run, options, first.data));
    keepCountsAlone(part.data);
    return part;
}

std::string calibrationPartBytes(const CalibrationPart& part)
{
    ByteWriter out;
    writeHash(out, part.model);
    writeHash(out, part.samples);
    out.number<uint64_t>(part.index);
    out.number<uint64_t>(part.count);
    out.item(part.extremes.has_value());
    writeHash(out, part.extremes.value_or(Hash128 {}));
    writeCalibrationData(out, part.data);
    const std::string bytes = std::string(kMagic) + out.bytes();
    ByteWriter checksum;
    writeHash(checksum, hashText(bytes));
    return bytes + checksum.bytes();
}

Result<CalibrationPart> parseCalibrationPart(std::string_view bytes, const std::string& path)
{
    if (!bytes.starts_with(kMagic.substr(0, kMagic.size() - 1)))
        return badInput("is no state file of a calibration", path, kWhereFrom);
    if (!bytes.starts_with(kMagic))
        return badInput("is a state file of another version", path, "run all shards with this program");
    const Issue damaged = badInput("is damaged", path, "run this shard again");
    if (bytes.size() < kMagic.size() + sizeof(Hash128))
        return damaged;
    const std::string_view content = bytes.substr(0, bytes.size() - sizeof(Hash128));
    ByteReader checksum(bytes.substr(content.size()));
    if (readHash(checksum) != hashText(content))
        return damaged;
    ByteReader in(content.substr(kMagic.size()));
    CalibrationPart part;
    part.model = readHash(in);
    part.samples = readHash(in);
    part.index = static_cast<size_t>(in.number<uint64_t>());
    part.count = static_cast<size_t>(in.number<uint64_t>());
    bool counted = false;
    in.item(counted);
    const Hash128 extremes = readHash(in);
    if (counted)
        part.extremes = extremes;
    part.data = readCalibrationData(in);
    if (!in.ok() || !in.atEnd() || !fits(part))
        return damaged;
    return part;
}

Result<CalibrationPart> readCalibrationPart(const std::string& path)
{
    QS_TRY(const std::string bytes, readWholeFile(path, kWhereFrom));
    return parseCalibrationPart(bytes, path);
}

Result<CalibrationSum> sumOfParts(const std::vector<std::string>& paths, Rounds rounds)
{
    std::vector<PartFile> first, second;
    for (const std::string& path : paths) {
        QS_TRY(CalibrationPart part, readCalibrationPart(path));
        if (!part.extremes)
            first.push_back({ path, std::move(part) });
        else if (rounds == Rounds::Both)
            second.push_back({ path, std::move(part) });
    }
    if (first.empty())
        return badInput("none of the state files is of the first round", paths.empty() ? std::string() : paths.front(),
            "give those of the first round, too");
    QS_TRY(first, inOrder(std::move(first)));
    CalibrationSum sum = sumOfFirst(std::move(first));
    if (!second.empty()) {
        QS_TRY(second, inOrder(std::move(second)));
        QS_CHECK(addSecond(sum, second));
    }
    return sum;
}

} // namespace qs
