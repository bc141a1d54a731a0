// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/part_files.h"

#include <algorithm>

namespace qs {

namespace {

bool isSum(const PartFile& file) { return file.first != file.last; }

Issue twice(const PartFile& file, const PartFile& before)
{
    const std::string shard = "shard " + std::to_string(file.first) + ", as ";
    return badInput(
        isSum(file) || isSum(before) ? "holds " + shard + "does " + before.path : "is " + shard + "is " + before.path,
        file.path, "give each shard once");
}

Issue missing(size_t shard, const PartFile& beside)
{
    return badInput("shard " + std::to_string(shard) + " of " + std::to_string(beside.count) + " is missing",
        beside.path, "give the state files of all shards, or of neighbours for --state");
}

} // namespace

Status putInOrder(std::vector<PartFile>& files, Parts parts)
{
    const size_t count = files.front().count;
    for (const PartFile& file : files)
        if (file.count != count)
            return badInput(
                "is one of " + std::to_string(file.count) + " shards, the first one of " + std::to_string(count),
                file.path, "give the state files of one run of all shards");
    std::ranges::stable_sort(files, {}, &PartFile::first);
    for (size_t i = 1; i < files.size(); ++i) {
        if (files[i].first <= files[i - 1].last)
            return twice(files[i], files[i - 1]);
        if (files[i].first != files[i - 1].last + 1)
            return missing(files[i - 1].last + 1, files[i - 1]);
    }
    if (parts == Parts::All && files.front().first != 1)
        return missing(1, files.front());
    if (parts == Parts::All && files.back().last != count)
        return missing(files.back().last + 1, files.back());
    return {};
}

} // namespace qs
