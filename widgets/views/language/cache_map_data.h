// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/caches/cache_report.h"
#include "widgets/plots/series.h"
#include "widgets/session/shown/theme.h"

namespace qs {

/// The largest magnitudes by channel (down) and position; of many neighbours that fall into one cell the largest. Null:
/// none.
HeatData cacheMapData(const CacheMap* map, const Theme& theme);

} // namespace qs
