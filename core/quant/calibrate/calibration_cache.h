// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/hash.h"
#include "core/quant/calibrate/calibrate.h"

#include <optional>
#include <string>
#include <string_view>

namespace qs {

/// What the statistics of a run follow from. Paths, threads and memory limits do not matter.
struct CalibrationKey {
    Hash128 model; ///< its computation and weights, carried state
    std::optional<Hash128> samples; ///< without data nothing, which stands for any samples
};
/// Nothing for models whose computation has no key (random numbers, subgraphs). Reads all samples.
Result<std::optional<CalibrationKey>> calibrationKey(const CalibrationRun& run);

/// A file with statistics, found again by their key, which has samples. Equal data give equal bytes.
Status saveCalibration(const CalibrationData& data, const CalibrationKey& key, const std::string& path);
std::string calibrationBytes(const CalibrationData& data, const CalibrationKey& key);
/// Issues: unreadable, of another version, of another key, damaged.
Result<CalibrationData> loadCalibration(const std::string& path, const CalibrationKey& key);
Result<CalibrationData> parseCalibration(std::string_view bytes, const CalibrationKey& key, const std::string& path);

struct CachedCalibration {
    CalibrationData data;
    bool found = false; ///< in the file; the model did not run
};
/// Statistics of the run's tensors, from the file at `path` where it has what is needed of this model and these samples
/// (any samples, without the run's data). Else they are collected, and written with what every calibrator needs, so
/// that the next one finds it. Issues: the file is something else, which is left as it is; a model without a key; no
/// data, and the file lacks something.
Result<CachedCalibration> cachedCalibration(
    const CalibrationRun& run, const CollectOptions& needed, const std::string& path);

/// Writes what was found elsewhere for this run (of parts of its samples, say) to the file at `path`, which then serves
/// cachedCalibration(). Issues: the file is something else, which is left as it is; a model without a key; no data.
Status keepInCache(const CalibrationRun& run, const CalibrationData& data, const std::string& path);

} // namespace qs
