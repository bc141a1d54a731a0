// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/work/work_context.h"
#include "core/data/data_source.h"
#include "core/data/feed_range.h"
#include "core/engine/run/carry.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace qs {

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
