// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/calibrate/calibration_parts.h"

#include "core/base/files/whole_file.h"
#include "core/base/part_files.h"
#include "core/base/version.h"
#include "core/engine/lowered/content_key.h"
#include "core/quant/calibrate/calibration_archive.h"

#include <algorithm>
#include <functional>

namespace qs {

namespace {

constexpr std::string_view kMagic = "QSCPART2"; ///< the digit is the version
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
    if (part.first < 1 || part.last < part.first || part.last > part.count || part.count > kMostParts
        || part.data.feeds == 0 || part.data.feeds > kMostFeeds)
        return false;
    const CollectOptions& collected = part.data.collected;
    if ((collected.stride && part.data.feeds % collected.stride) || collected.cut)
        return false;
    const auto share = [&](size_t index) { return FeedRange::part(part.data.feeds, index, part.count); };
    const size_t runs = part.extremes ? 0 : share(part.last).end() - share(part.first).first;
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
    return sameTensors(a.data, b.data) && a.extremes == b.extremes && a.data.collected == b.data.collected
        ? ""
        : "was calibrated with other options than the first shard";
}

struct ReadPart {
    std::string path;
    CalibrationPart part;
};

/// Puts the parts of one round in their order.
Result<std::vector<ReadPart>> inOrder(std::vector<ReadPart> parts, Parts which)
{
    std::ranges::stable_sort(parts, {}, [](const ReadPart& file) { return file.part.first; });
    std::vector<PartFile> files;
    for (const ReadPart& file : parts) {
        if (const std::string why = difference(parts[0].part, file.part); !why.empty())
            return badInput(why, file.path, kAlike);
        files.push_back({ file.path, file.part.first, file.part.last, file.part.count });
    }
    QS_CHECK(putInOrder(files, which));
    return parts;
}

/// Of runs that follow those of `to`.
void addFirst(CalibrationData& to, const CalibrationData& more)
{
    for (size_t t = 0; t < to.tensors.size(); ++t) {
        TensorStatistics& sum = to.tensors[t];
        const TensorStatistics& from = more.tensors[t];
        sum.feeds.insert(sum.feeds.end(), from.feeds.begin(), from.feeds.end());
        sum.gap.below = std::max(sum.gap.below, from.gap.below);
        sum.gap.above = std::min(sum.gap.above, from.gap.above);
        sum.powers.merge(from.powers);
    }
}

CalibrationSum sumOfFirst(std::vector<ReadPart> files)
{
    CalibrationPart& first = files.front().part;
    CalibrationSum sum { first.model, first.samples, first.count, {}, std::move(first.data) };
    for (size_t i = 1; i < files.size(); ++i)
        addFirst(sum.data, files[i].part.data);
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

Status addSecond(CalibrationSum& sum, const std::vector<ReadPart>& files)
{
    const CalibrationPart& one = files.front().part;
    if (one.model != sum.model || one.samples != sum.samples || one.count != sum.parts || one.extremes != sum.extremes
        || one.data.feeds != sum.data.feeds || !sameTensors(one.data, sum.data))
        return badInput("counts bins of other extremes than those that are given", files.front().path,
            "run the second round of all shards after the first one of all, with the same options");
    sum.data.collected = one.data.collected;
    for (const ReadPart& file : files)
        if (!addCounts(sum.data, file.part.data))
            return badInput("holds counts that do not fit the extremes", file.path, kAlike);
    return {};
}

/// Counts of parts that were counted over the same bins; false where they were not.
bool addCountsOfNeighbour(CalibrationData& to, const CalibrationData& more)
{
    for (size_t t = 0; t < to.tensors.size(); ++t)
        for (const auto& [kind, counts] : more.tensors[t].counts) {
            std::vector<uint64_t>& sum = to.tensors[t].counts[kind];
            if (sum.empty())
                sum.resize(counts.size());
            if (sum.size() != counts.size())
                return false;
            std::ranges::transform(sum, counts, sum.begin(), std::plus());
        }
    return true;
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
    CalibrationPart part { .first = index, .last = index, .count = count };
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
    CalibrationPart part { .first = index, .last = index, .count = first.parts, .extremes = first.extremes };
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
    for (const size_t number : { part.first, part.last, part.count })
        out.number<uint64_t>(number);
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
    for (size_t* number : { &part.first, &part.last, &part.count })
        in.item(*number);
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

Result<bool> isCalibrationPart(const std::string& path)
{
    QS_TRY(const std::string begin, readBeginning(path, kMagic.size(), "give state files of shards"));
    return begin.starts_with(kMagic.substr(0, kMagic.size() - 1));
}

Result<CalibrationPart> addNeighbours(const std::vector<std::string>& paths)
{
    std::vector<ReadPart> files;
    for (const std::string& path : paths) {
        QS_TRY(CalibrationPart part, readCalibrationPart(path));
        files.push_back({ path, std::move(part) });
    }
    if (files.empty())
        return badUse("no state files are given", kWhereFrom);
    QS_TRY(files, inOrder(std::move(files), Parts::Neighbours));
    CalibrationPart sum = std::move(files.front().part);
    sum.last = files.back().part.last;
    for (size_t i = 1; i < files.size(); ++i) {
        if (!sum.extremes)
            addFirst(sum.data, files[i].part.data);
        else if (!addCountsOfNeighbour(sum.data, files[i].part.data))
            return badInput("holds counts of other bins than the first shard", files[i].path, kAlike);
    }
    return sum;
}

Result<CalibrationSum> sumOfParts(const std::vector<std::string>& paths, Rounds rounds)
{
    std::vector<ReadPart> first, second;
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
    QS_TRY(first, inOrder(std::move(first), Parts::All));
    CalibrationSum sum = sumOfFirst(std::move(first));
    if (!second.empty()) {
        QS_TRY(second, inOrder(std::move(second), Parts::All));
        QS_CHECK(addSecond(sum, second));
    }
    return sum;
}

} // namespace qs
