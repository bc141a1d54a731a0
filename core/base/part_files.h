// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <string>
#include <vector>

namespace qs {

/// A file that holds shard `first`, or the sum of neighbours up to `last`, from 1, of `count`.
struct PartFile {
    std::string path;
    size_t first = 1, last = 1, count = 1;
};

enum class Parts {
    All, ///< each shard once
    Neighbours, ///< each shard once from the first to the last of those that are there
};

/// Puts the files, of which there is one at least, into the order of their shards. Issues: another number of shards
/// than the first file says; shards that are there twice or missing.
Status putInOrder(std::vector<PartFile>& files, Parts parts);

} // namespace qs
