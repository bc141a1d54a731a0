// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/language/cache_map_data.h"

#include "widgets/models/base/translated.h"

#include <cmath>
#include <limits>

namespace qs {

namespace {

constexpr size_t kMostCacheCells = 256; ///< rows or columns that are drawn

size_t cellStep(size_t count) { return std::max<size_t>(1, (count + kMostCacheCells - 1) / kMostCacheCells); }

} // namespace

HeatData cacheMapData(const CacheMap* map, const Theme& theme)
{
    HeatData data;
    data.rowName = tr("channel");
    data.columnName = tr("position");
    data.valueName = tr("largest magnitude:");
    data.colour = [theme](double share) { return theme.magnitude(share); };
    if (!map || map->largest.empty())
        return data;
    const size_t down = cellStep(map->channels), across = cellStep(map->positions);
    data.rows = (map->channels + down - 1) / down;
    data.columns = (map->positions + across - 1) / across;
    data.rowStep = double(down);
    data.columnStep = double(across);
    data.values.assign(data.rows * data.columns, std::numeric_limits<double>::quiet_NaN());
    data.high = 0;
    for (size_t c = 0; c < map->channels; ++c)
        for (size_t p = 0; p < map->positions; ++p) {
            double& cell = data.values[c / down * data.columns + p / across];
            cell = std::fmax(cell, double(map->largest[c * map->positions + p]));
            data.high = std::fmax(data.high, cell);
        }
    if (data.high <= 0)
        data.high = 1;
    return data;
}

} // namespace qs
