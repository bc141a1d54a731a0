// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/work/work_context.h"
#include "core/data/data_source.h"
#include "core/engine/run/carry.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

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

/// A float model, what to look at, what to run it on, and how.
struct CalibrationRun {
    std::shared_ptr<const Plan> plan;
    std::vector<std::string> tensors; ///< float32 or float16 values of the model
    std::shared_ptr<const DataSource> data;
    CarryNames carry = {};
    WorkContext work = {};
    bool inOrder = false; ///< one sample after the other, so that what is seen of it may be added up as it comes
    std::vector<uint64_t>* hashes = nullptr; ///< gets sampleHashes() of all samples; null: they are not made
    uint64_t keepBytes = uint64_t(64) << 20; ///< activations are kept for the second pass when all of them fit
    FeedRange only = {}; ///< what is run of the data, the rest of which another process looks at

    FeedRange feeds() const
    {
        const size_t first = std::min(only.first, data->feeds());
        return { first, std::min(only.count, data->feeds() - first) };
    }
};

} // namespace qs
