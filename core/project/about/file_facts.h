// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/about/run_time.h"
#include "core/project/snapshot/snapshot.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace qs {

/// One of the models of a comparison, in the numbers that people choose between them by.
struct FileFacts {
    std::string role; ///< "float", "quantized"; of two quantized ones "a" and "b"
    std::string path; ///< "" = made by the recipe
    std::optional<uint64_t> bytes; ///< with external data; nullopt: it cannot be said
    int64_t parameters = 0; ///< elements of float or dequantized constants
    std::optional<int64_t> macs; ///< of one run; nullopt where sizes are unknown
    Number codeShare; ///< of all multiply-accumulates: both factors are codes
    Number outputSqnrDb; ///< of the worst output; null where exact, and of the float model
    bool exact = false; ///< every output equals the float model's
    Number accuracy; ///< fraction; null without labels
    Number top1Agreement; ///< lowest of the outputs that have one
    ArithmeticProfile profile = ArithmeticProfile::Simulated; ///< that it was run with
    std::optional<RunTime> time; ///< where it was measured
};

/// The float model, then the quantized ones; `snapshots`: one comparison, or those of the first and the second
/// quantized model. Where a recipe made the model its size is that of the file it would be written to.
std::vector<FileFacts> fileFacts(std::span<const Snapshot* const> snapshots);

/// Fills in the times, by `runs` runs of each.
Status measureTimes(
    std::vector<FileFacts>& facts, std::span<const Snapshot* const> snapshots, size_t runs, const WorkContext& work);

/// Whether samples decided what the recipe made: a range, corrections, or codes of weights.
bool calibratedHere(const Snapshot& snapshot);

inline constexpr size_t kTimedRuns = 9; ///< where nobody says otherwise

} // namespace qs
