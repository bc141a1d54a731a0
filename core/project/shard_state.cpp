// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/shard_state.h"

#include "core/analysis/measured_state.h"
#include "core/base/whole_file.h"

namespace qs {

namespace {

constexpr uint64_t kMagic = 0x545345504f435351; ///< "QSCOPEST" as it lies in the file
constexpr uint32_t kHeaderVersion = 2;
constexpr uint32_t kStateVersion = kHeaderVersion * 1000 + kMeasuredVersion;
constexpr size_t kFrame = 2 * sizeof(uint64_t) + sizeof(uint32_t); ///< magic, version, length of the body
constexpr const char* kWhereFrom = "give the files that `compare --shard I/N --state F` wrote";
constexpr size_t kChecksum = 2 * sizeof(uint64_t);

void write(ByteWriter& out, const StateFile& file)
{
    out.text(file.given);
    out.text(file.absolute);
}

StateFile readFile(ByteReader& in)
{
    StateFile file;
    file.given = in.text();
    file.absolute = in.text();
    return file;
}

void write(ByteWriter& out, const Hash128& hash)
{
    out.number(hash.low);
    out.number(hash.high);
}

Hash128 readHash(ByteReader& in)
{
    Hash128 hash;
    hash.low = in.number<uint64_t>();
    hash.high = in.number<uint64_t>();
    return hash;
}

void write(ByteWriter& out, const std::optional<uint64_t>& number)
{
    out.number<uint8_t>(number.has_value());
    out.number<uint64_t>(number.value_or(0));
}

std::optional<uint64_t> readOptional(ByteReader& in)
{
    const bool has = in.number<uint8_t>() != 0;
    const auto number = in.number<uint64_t>();
    return has ? std::optional(number) : std::nullopt;
}

void write(ByteWriter& out, const ShardHeader& h)
{
    out.text(h.program);
    for (const StateFile* file : { &h.floatModel, &h.map, &h.ranges, &h.data, &h.preprocess })
        write(out, *file);
    out.text(h.recipe);
    out.number<uint64_t>(h.shapes.size());
    for (const auto& [name, shape] : h.shapes) {
        out.text(name);
        out.numbers(shape);
    }
    write(out, h.limit ? std::optional<uint64_t>(*h.limit) : std::nullopt);
    write(out, h.seed);
    out.number<uint8_t>(static_cast<uint8_t>(h.profile));
    out.number<uint8_t>(h.nodeAlone);
    out.number<uint64_t>(h.count);
    out.number<uint64_t>(h.samples);
    out.numbers(h.labels);
    write(out, h.floatIdentity);
    write(out, h.dataIdentity);
    out.number<uint64_t>(h.quantModels.size());
    for (size_t i = 0; i < h.quantModels.size(); ++i) {
        write(out, h.quantModels[i]);
        write(out, h.quantIdentities[i]);
        out.text(h.byNumbers[i]);
    }
}

ShardHeader readHeader(ByteReader& in)
{
    ShardHeader h;
    h.program = in.text();
    for (StateFile* file : { &h.floatModel, &h.map, &h.ranges, &h.data, &h.preprocess })
        *file = readFile(in);
    h.recipe = in.text();
    for (size_t i = in.count(2 * sizeof(uint64_t)); i > 0; --i) {
        const std::string name = in.text();
        h.shapes[name] = in.numbers<int64_t>();
    }
    if (const auto limit = readOptional(in))
        h.limit = static_cast<size_t>(*limit);
    h.seed = readOptional(in);
    h.profile = static_cast<ArithmeticProfile>(in.number<uint8_t>());
    h.nodeAlone = in.number<uint8_t>() != 0;
    h.count = static_cast<size_t>(in.number<uint64_t>());
    h.samples = static_cast<size_t>(in.number<uint64_t>());
    h.labels = in.numbers<int64_t>();
    h.floatIdentity = readHash(in);
    h.dataIdentity = readHash(in);
    for (size_t i = in.count(4 * sizeof(uint64_t)); i > 0; --i) {
        h.quantModels.push_back(readFile(in));
        h.quantIdentities.push_back(readHash(in));
        h.byNumbers.push_back(in.text());
    }
    return h;
}

Result<ShardState> decoded(std::string_view all, const std::string& path)
{
    const std::string again = "run this shard again";
    ByteReader frame(all);
    if (frame.number<uint64_t>() != kMagic)
        return badInput("is no state file of a shard", path, kWhereFrom);
    const auto version = frame.number<uint32_t>();
    const auto length = frame.number<uint64_t>();
    if (frame.ok() && version != kStateVersion)
        return badInput("is a state file of version " + std::to_string(version) + ", this program reads version "
                + std::to_string(kStateVersion),
            path, "run all shards with this program");
    if (!frame.ok() || all.size() < kFrame + kChecksum || length != all.size() - kFrame - kChecksum)
        return badInput("is cut short", path, again);
    ByteReader checksum(all.substr(all.size() - kChecksum));
    if (readHash(checksum) != hashText(all.substr(0, all.size() - kChecksum)))
        return badInput("is damaged: its checksum is wrong", path, again);
    ByteReader in(all.substr(kFrame, static_cast<size_t>(length)));
    ShardState state;
    state.header = readHeader(in);
    state.index = static_cast<size_t>(in.number<uint64_t>());
    for (size_t i = 0; i < state.header.quantModels.size(); ++i)
        state.measured.push_back(in.text());
    if (!in.ok() || !in.atEnd() || state.measured.empty() || state.index < 1 || state.index > state.header.count
        || state.header.profile > ArithmeticProfile::IntegerAvx2)
        return badInput("is damaged", path, again);
    return state;
}

} // namespace

std::string shardStateBytes(const ShardState& state)
{
    ByteWriter body;
    write(body, state.header);
    body.number<uint64_t>(state.index);
    for (const std::string& measured : state.measured)
        body.text(measured);
    ByteWriter frame;
    frame.number(kMagic);
    frame.number(kStateVersion);
    frame.number<uint64_t>(body.bytes().size());
    std::string bytes = frame.bytes() + body.bytes();
    ByteWriter checksum;
    write(checksum, hashText(bytes));
    return bytes + checksum.bytes();
}

Result<ShardState> readShardState(const std::string& path)
{
    const Result<std::string> bytes = readWholeFile(path, kWhereFrom);
    return bytes.ok() ? decoded(*bytes, path) : bytes.issue();
}

} // namespace qs
