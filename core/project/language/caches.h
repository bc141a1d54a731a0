// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/caches/measure_caches.h"
#include "core/project/snapshot/snapshot.h"

#include <string>

namespace qs {

/// What the float model remembers of the snapshot's samples, as measureCaches() finds it. The snapshot must hold a
/// float model and data.
Result<CacheReport> cachesOf(
    const Snapshot& snapshot, const CacheOptions& options, const ProgressFn& progress, const CancelToken& cancel);

/// One head of one row of that report, or all of them.
Result<CacheMap> cacheMapOf(const Snapshot& snapshot, const CacheOptions& options, size_t row,
    std::optional<size_t> head, const ProgressFn& progress, const CancelToken& cancel);

/// The text of a `kv_cache_scale_file` as onnxruntime-genai's model builder reads it (0.18.0, builders/base.py): scales
/// of keys and of values by layer (one number, or heads x channels in a row), `qmax` that thresholds were divided by,
/// `layer_ids`. Issues: scales per token, which no file holds; a layer without keys or values, or with two of them.
Result<std::string> cacheScaleFile(const CacheReport& report, CacheBits bits, CacheScales scales);

} // namespace qs
