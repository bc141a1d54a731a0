// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>

namespace qs {

/// Runs of the data that follow one another.
struct FeedRange {
    size_t first = 0, count = SIZE_MAX;
    size_t end() const { return first + count; }
    /// Those of number `index`, from 1, of `count` parts of about equal size.
    static FeedRange part(size_t feeds, size_t index, size_t count)
    {
        const size_t first = feeds * (index - 1) / count;
        return { first, feeds * index / count - first };
    }
};

} // namespace qs
