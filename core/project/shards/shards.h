// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/work/work_context.h"
#include "core/project/snapshot/snapshot.h"

#include <span>
#include <string>
#include <vector>

namespace qs {

/// Writes what a shard measured to a state file. The snapshots are those of one or two quantized files (the second one
/// where two are compared), made with the same Inputs::shard from the same float model and data.
Status writeShardState(const std::string& path, std::span<const SnapshotPtr> snapshots);

/// The sum of some shards, as the bytes of a state file.
struct ShardSum {
    std::string bytes;
    std::vector<SnapshotPtr> snapshots; ///< of the files that it was made with, without what was measured
};
/// Adds up neighbouring shards, whose state files are given in any order: the sum takes their place in mergeShards()
/// and sumShards(). Histograms and counts add up; what is kept of each sample is as long as before.
Result<ShardSum> sumShards(const std::vector<std::string>& paths, const WorkContext& work);

/// The comparison over all samples from the state files of all shards, or of sums of them, in any order: equal in every
/// bit to one run. The models must still lie where the shards found them; the data only where a recipe is calibrated
/// with them, or where bodies of If, Loop and Scan are expanded by them. One snapshot for each that writeShardState()
/// got. Issues: shards of other files, data or settings, one that is missing, given twice or damaged.
Result<std::vector<SnapshotPtr>> mergeShards(const std::vector<std::string>& paths, const WorkContext& work);

} // namespace qs
