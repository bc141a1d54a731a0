// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/snapshot/snapshot.h"

#include <string>
#include <vector>

namespace qs {

/// A file that a shard read: as the user named it, and where it lay.
struct StateFile {
    std::string given, absolute;
    bool operator==(const StateFile&) const = default;
};

/// What all shards of one comparison have in common.
struct ShardHeader {
    std::string program; ///< version of Quantscope; other versions may round otherwise
    StateFile floatModel, map, ranges, calibrationCache, data, preprocess;
    std::vector<StateFile> quantModels; ///< given is empty where a recipe makes it
    std::string recipe; ///< JSON; empty: none
    std::map<std::string, Shape> shapes;
    std::optional<size_t> limit;
    std::optional<uint64_t> seed;
    ArithmeticProfile profile = ArithmeticProfile::Simulated;
    bool nodeAlone = false;
    TaskChoices tasks {};
    bool expanded = false; ///< bodies of If, Loop and Scan, by what the data have in common
    size_t count = 1; ///< of shards
    size_t samples = 0; ///< of all shards
    std::vector<int64_t> labels; ///< of all samples
    Hash128 floatIdentity, dataIdentity;
    Hash128 cacheHash {}; ///< of the bytes of calibrationCache
    std::vector<Hash128> quantIdentities; ///< as quantModels
    std::vector<std::string> alignments; ///< as quantModels: alignmentBytes()
    bool operator==(const ShardHeader&) const = default;
};

/// What a state file holds: one shard, or the sum of neighbours.
struct ShardSpan {
    size_t first = 1, last = 1; ///< from 1, of ShardHeader::count
    size_t firstSample = 0, samples = 0; ///< theirs, of ShardHeader::samples
    bool operator==(const ShardSpan&) const = default;
};

/// One state file. The measured parts are bytes until there is a graph to read them for (writeMeasured()).
struct ShardState {
    ShardHeader header;
    ShardSpan span;
    std::vector<std::string> measured; ///< as quantModels
};

/// Magic, version, length, body, XXH3-128 checksum of all before.
std::string shardStateBytes(const ShardState& state);
/// An Issue when it is no state file, of another version, cut short or changed.
Result<ShardState> readShardState(const std::string& path);

/// What stands first in a state file, of which nothing else is read or checked.
struct ShardHead {
    size_t count = 1; ///< of all shards
    ShardSpan span;
};
/// An Issue when it is no state file, or of another version.
Result<ShardHead> readShardHead(const std::string& path);

} // namespace qs
