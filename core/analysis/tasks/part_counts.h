// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace qs {

/// Of parts of an output (positions of sequences, classes of masks): how many there are, and how many agree. Integers
/// that merge in any order.
struct PartCounts {
    std::vector<uint64_t> all, same;
    void add(size_t part, uint64_t allMore, uint64_t sameMore)
    {
        if (part >= all.size()) {
            all.resize(part + 1);
            same.resize(part + 1);
        }
        all[part] += allMore;
        same[part] += sameMore;
    }
    void merge(const PartCounts& other)
    {
        for (size_t i = other.all.size(); i > 0; --i) // the last one makes room for all
            add(i - 1, other.all[i - 1], other.same[i - 1]);
    }
};

/// The same, of one output and all samples, for several threads.
struct SharedCounts {
    mutable std::mutex mutex;
    PartCounts counts;
    void merge(const PartCounts& more)
    {
        const std::lock_guard lock(mutex);
        counts.merge(more);
    }
    PartCounts now() const
    {
        const std::lock_guard lock(mutex);
        return counts;
    }
};

} // namespace qs
