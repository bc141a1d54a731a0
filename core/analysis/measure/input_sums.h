// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/data_source.h"
#include "core/engine/run/carry.h"

#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace qs {

/// One channel of one input in one sample.
struct InputSums {
    uint64_t count = 0, nonFinite = 0;
    double sum = 0, squares = 0;
    double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();
    void merge(const InputSums& other);
};

/// An input that samples feed.
struct FedInput {
    ValueId value;
    std::string name;
    size_t channels = 1; ///< 1 where none tell colours apart
    size_t channelAxis = 0;
    size_t firstRow = 0; ///< of its channels, in InputStatistics::sums
};

/// What the samples are like: sums by input, channel and sample, and a hash of each sample.
struct InputStatistics {
    std::vector<FedInput> inputs;
    std::vector<InputSums> sums; ///< [row * samples + sample]
    std::vector<uint64_t> hashes; ///< by sample, of all its inputs

    /// Inputs of the float model without the carried ones (OUTPUT, INPUT by name).
    static InputStatistics of(const Plan& floatPlan, const CarryNames& carry, size_t samples);
    /// Feeds of different samples may come from different threads.
    void add(const Feed& feed);
};

} // namespace qs
