// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/caches/cache_report.h"
#include "core/project/snapshot/snapshot.h"

namespace qs {

/// What was found, of which snapshot.
struct CachesReport {
    const Snapshot& snapshot;
    const CacheReport& found;
    const CacheMap* map = nullptr; ///< null: none was asked for
    size_t mapRow = 0, mapHead = 0;
};

} // namespace qs
