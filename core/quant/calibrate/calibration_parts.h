// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/quant/calibrate/calibration_cache.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// What one of several parts of the data adds to a calibration. The first round finds the extremes of each run, and
/// bins of power-of-two width where they are asked for. Bins of histograms follow from the extremes of all parts, so
/// counts take a second round.
struct CalibrationPart {
    Hash128 model; ///< what is calibrated, and the program's version
    Hash128 samples; ///< of the whole data
    size_t first = 1, last = 1,
           count = 1; ///< this is number `first`, or the sum of neighbours up to `last`, of `count`
    std::optional<Hash128> extremes; ///< of all parts, which these counts follow from; nothing in the first round
    /// As of one run over all; but of each tensor the runs of this part alone in the first round, in the second round
    /// the counts alone.
    CalibrationData data;
};

/// All parts together.
struct CalibrationSum {
    Hash128 model, samples;
    size_t parts = 0;
    Hash128 extremes;
    CalibrationData data; ///< equal in every bit to that of one run
};

/// The model of a run, its tensors apart: of its bytes where its computation has no key.
Result<Hash128> modelIdentity(const CalibrationRun& run);
/// The number of samples, the first, the middle and the last: reading all in every part would cost what parts save.
Result<Hash128> dataIdentity(const DataSource& data);

/// What a recipe needs, in both rounds: nothing that one pass over all samples finds alone.
CollectOptions neededOfParts(CollectOptions needed);

/// The first round of one part: the run's data, of which this looks at its own.
Result<CalibrationPart> firstRound(const CalibrationRun& run, const CollectOptions& needed, size_t index, size_t count);
/// The second round of one part, given the first one of all parts. Issues: those of another model, of other data, of
/// other options, of another number of parts.
Result<CalibrationPart> secondRound(
    const CalibrationRun& run, const CollectOptions& needed, const CalibrationSum& first, size_t index);

/// Magic and version, body, XXH3-128 checksum of all before.
std::string calibrationPartBytes(const CalibrationPart& part);
/// Issues: no such file, of another version, damaged.
Result<CalibrationPart> readCalibrationPart(const std::string& path);
Result<CalibrationPart> parseCalibrationPart(std::string_view bytes, const std::string& path);

/// Whether the file begins as that of a part of a calibration does. Issue: unreadable.
Result<bool> isCalibrationPart(const std::string& path);

/// Adds up neighbouring parts of one round, whose files are given in any order: it takes their place in sumOfParts().
/// Extremes of each run stay apart. Issues: parts of different models, data, options or rounds; twice or missing.
Result<CalibrationPart> addNeighbours(const std::vector<std::string>& paths);

enum class Rounds { First, Both };
/// Adds up the parts in these files, in any order: all of the first round, and for both rounds all of the second or
/// none. Issues: parts of different models, data or options; one that is missing or given twice.
Result<CalibrationSum> sumOfParts(const std::vector<std::string>& paths, Rounds rounds);

} // namespace qs
