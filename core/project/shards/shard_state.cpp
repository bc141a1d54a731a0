// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/shards/shard_state.h"

#include "core/analysis/measure/measured_state.h"
#include "core/base/files/whole_file.h"

namespace qs {

namespace {

constexpr uint64_t kMagic = 0x545345504f435351; ///< "QSCOPEST" as it lies in the file
constexpr uint32_t kHeaderVersion = 6;
constexpr uint32_t kStateVersion = kHeaderVersion * 1000 + kMeasuredVersion;
constexpr size_t kFrame = 2 * sizeof(uint64_t) + sizeof(uint32_t); ///< magic, version, length of the body
constexpr const char* kWhereFrom = "give the files that `compare --shard I/N --state F` wrote";
constexpr size_t kHead = 5 * sizeof(uint64_t); ///< ShardHead
constexpr size_t kChecksum = 2 * sizeof(uint64_t);
const char* const kAgain = "run this shard again";

template <class Stream> void archive(Stream& a, Archived<Stream, StateFile>& file)
{
    a.item(file.given);
    a.item(file.absolute);
}

template <class Stream> void archive(Stream& a, Archived<Stream, Hash128>& hash)
{
    a.item(hash.low);
    a.item(hash.high);
}

template <class Stream, class Number> void archiveOptional(Stream& a, Number& number)
{
    bool present = number.has_value();
    uint64_t value = number.value_or(0);
    a.item(present);
    a.item(value);
    if constexpr (Stream::kReads)
        if (present)
            number = value;
}

template <class Stream> void archive(Stream& a, Archived<Stream, std::map<std::string, Shape>>& shapes)
{
    std::vector<std::pair<std::string, Shape>> list(shapes.begin(), shapes.end());
    a.size(list, 2 * sizeof(uint64_t));
    for (auto& [name, shape] : list) {
        a.item(name);
        a.item(shape);
    }
    if constexpr (Stream::kReads)
        shapes = { list.begin(), list.end() };
}

template <class Stream> void archive(Stream& a, Archived<Stream, TaskChoices>& tasks)
{
    std::vector<std::pair<std::string, TaskChoice>> list(tasks.told.begin(), tasks.told.end());
    a.size(list, 2 * sizeof(uint64_t));
    for (auto& [name, choice] : list) {
        a.item(name);
        a.item(choice.kind);
        a.item(choice.form);
    }
    if constexpr (Stream::kReads)
        tasks.told = { list.begin(), list.end() };
    a.item(tasks.boxes.score);
    a.item(tasks.boxes.suppression);
    a.item(tasks.boxes.match);
}

template <class Stream> void archive(Stream& a, Archived<Stream, ShardHeader>& h)
{
    a.item(h.program);
    for (auto* file : { &h.floatModel, &h.map, &h.ranges, &h.calibrationCache, &h.data, &h.preprocess })
        archive(a, *file);
    a.item(h.recipe);
    archive(a, h.shapes);
    archiveOptional(a, h.limit);
    archiveOptional(a, h.seed);
    auto profile = static_cast<uint8_t>(h.profile);
    a.item(profile);
    if constexpr (Stream::kReads)
        h.profile = static_cast<ArithmeticProfile>(profile);
    a.item(h.nodeAlone);
    archive(a, h.tasks);
    a.item(h.expanded);
    a.item(h.count);
    a.item(h.samples);
    a.item(h.labels);
    archive(a, h.floatIdentity);
    archive(a, h.dataIdentity);
    archive(a, h.cacheHash);
    a.size(h.quantModels, 4 * sizeof(uint64_t));
    if constexpr (Stream::kReads) {
        h.quantIdentities.resize(h.quantModels.size());
        h.alignments.resize(h.quantModels.size());
    }
    for (size_t i = 0; i < h.quantModels.size(); ++i) {
        archive(a, h.quantModels[i]);
        archive(a, h.quantIdentities[i]);
        a.item(h.alignments[i]);
    }
}

template <class Stream> void archive(Stream& a, Archived<Stream, ShardHead>& head)
{
    for (auto* number : { &head.count, &head.span.first, &head.span.last, &head.span.firstSample, &head.span.samples })
        a.item(*number);
}

/// The length of the body, from the frame that `file` stands before.
Result<uint64_t> bodyLength(ByteReader& file, const std::string& path)
{
    if (file.number<uint64_t>() != kMagic)
        return badInput("is no state file of a shard", path, kWhereFrom);
    const auto version = file.number<uint32_t>();
    const auto length = file.number<uint64_t>();
    if (file.ok() && version != kStateVersion)
        return badInput("is a state file of version " + std::to_string(version) + ", this program reads version "
                + std::to_string(kStateVersion),
            path, "run all shards with this program");
    if (!file.ok())
        return badInput("is cut short", path, kAgain);
    return length;
}

Result<ShardHead> head(ByteReader& body, const std::string& path)
{
    ShardHead head;
    archive(body, head);
    const ShardSpan& span = head.span;
    if (!body.ok() || span.first < 1 || span.last < span.first || span.last > head.count)
        return badInput("is damaged", path, kAgain);
    return head;
}

Result<ShardState> decoded(std::string_view all, const std::string& path)
{
    ByteReader frame(all);
    QS_TRY(const uint64_t length, bodyLength(frame, path));
    if (all.size() < kFrame + kChecksum || length != all.size() - kFrame - kChecksum)
        return badInput("is cut short", path, kAgain);
    ByteReader checksum(all.substr(all.size() - kChecksum));
    Hash128 hash;
    archive(checksum, hash);
    if (hash != hashText(all.substr(0, all.size() - kChecksum)))
        return badInput("is damaged: its checksum is wrong", path, kAgain);
    ByteReader in(all.substr(kFrame, static_cast<size_t>(length)));
    QS_TRY(const ShardHead about, head(in, path));
    ShardState state;
    state.span = about.span;
    archive(in, state.header);
    for (size_t i = 0; i < state.header.quantModels.size(); ++i)
        state.measured.push_back(in.text());
    if (!in.ok() || !in.atEnd() || state.measured.empty() || state.header.count != about.count
        || state.header.profile > ArithmeticProfile::IntegerAvx2)
        return badInput("is damaged", path, kAgain);
    return state;
}

} // namespace

std::string shardStateBytes(const ShardState& state)
{
    ByteWriter body;
    archive(body, ShardHead { state.header.count, state.span });
    archive(body, state.header);
    for (const std::string& measured : state.measured)
        body.text(measured);
    ByteWriter frame;
    frame.number(kMagic);
    frame.number(kStateVersion);
    frame.number<uint64_t>(body.bytes().size());
    std::string bytes = frame.bytes() + body.bytes();
    ByteWriter checksum;
    archive(checksum, hashText(bytes));
    return bytes + checksum.bytes();
}

Result<ShardState> readShardState(const std::string& path)
{
    const Result<std::string> bytes = readWholeFile(path, kWhereFrom);
    return bytes.ok() ? decoded(*bytes, path) : bytes.issue();
}

Result<ShardHead> readShardHead(const std::string& path)
{
    QS_TRY(const std::string bytes, readBeginning(path, kFrame + kHead, kWhereFrom));
    ByteReader in(bytes);
    QS_CHECK(bodyLength(in, path));
    return head(in, path);
}

} // namespace qs
