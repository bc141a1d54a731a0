// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/hash.h"
#include "core/quant/calibrate.h"

#include <optional>
#include <string>
#include <string_view>

namespace qs {

/// What the statistics of a run follow from: the model's computation and weights, the tensors, the samples, what is
/// collected. Paths, threads and memory limits do not matter. Nothing for models whose computation has no key (random
/// numbers, subgraphs). Reads all samples.
Result<std::optional<Hash128>> calibrationKey(const CalibrationRun& run, const CollectOptions& options);

/// A file with statistics, found again by their key. Equal data give equal bytes.
Status saveCalibration(const CalibrationData& data, Hash128 key, const std::string& path);
std::string calibrationBytes(const CalibrationData& data, Hash128 key);
/// Issues: unreadable, of another version, of another key, damaged.
Result<CalibrationData> loadCalibration(const std::string& path, Hash128 key);
Result<CalibrationData> parseCalibration(std::string_view bytes, Hash128 key, const std::string& path);

struct CachedCalibration {
    CalibrationData data;
    bool found = false; ///< in the file; the model did not run
};
/// collectCalibration(), but what the file at `path` holds where its key fits; else it is written. Empty path: no file.
/// Issues: the file is something else, which is left as it is; a model without a key.
Result<CachedCalibration> cachedCalibration(const CalibrationRun& run, const CollectOptions& options,
    const std::string& path, const ProgressFn& progress = {}, const CancelToken& cancel = {});

} // namespace qs
