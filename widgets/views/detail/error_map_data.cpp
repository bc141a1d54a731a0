// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/detail/error_map_data.h"

#include "widgets/models/base/formatting.h"
#include "widgets/models/base/translated.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace qs {

namespace {

constexpr size_t kMostCells = 256; ///< rows or columns that are drawn

/// RMS errors of a map, or shares of the values there. `across`: elements that a column of it stands for.
HeatData heatOf(const ErrorMap& whole, size_t across, bool relative, const Theme& theme)
{
    const ErrorMap map = whole.reduced(kMostCells);
    HeatData data;
    data.rows = map.rows;
    data.columns = map.columns;
    data.rowStep = std::ceil(double(whole.rows) / double(std::max<size_t>(map.rows, 1)));
    data.columnStep = std::ceil(double(whole.columns) / double(std::max<size_t>(map.columns, 1))) * double(across);
    data.valueName = relative ? tr("error over value:") : tr("RMS error:");
    data.colour = [theme](double share) { return theme.magnitude(share); };
    data.emptyText = tr("This tensor has no elements.");
    for (size_t i = 0; i < map.error.size(); ++i) {
        const bool defined = !relative || map.signal[i] > 0;
        const double value = !relative ? map.error[i] : map.error[i] / map.signal[i];
        data.values.push_back(defined ? value : std::numeric_limits<double>::quiet_NaN());
    }
    data.high = 0;
    for (const double value : data.values)
        data.high = std::max(data.high, std::isnan(value) ? 0 : value);
    if (data.high <= 0)
        data.high = 1;
    return data;
}

} // namespace

HeatData errorMapData(const PairDetail& detail, bool relative, const Theme& theme)
{
    HeatData data = heatOf(detail.map, 1, relative, theme);
    const bool places = detail.shape.size() > 3; // else tokens or time, and features
    data.rowName = places ? tr("row") : tr("index");
    data.columnName = places ? tr("column") : tr("position");
    return data;
}

HeatData weightMapData(const WeightMap& weight, WeightMapOf of, const Theme& theme)
{
    const bool scales = of == WeightMapOf::Scale && !weight.scale.empty();
    HeatData data
        = heatOf(scales ? weight.scales() : weight.map, weight.cellElements, of == WeightMapOf::Relative, theme);
    data.rowName = tr("channel");
    data.columnName = tr("input");
    if (scales)
        data.valueName = tr("scale:");
    return data;
}

HeatData differenceData(const HeatData& first, HeatData data, const Theme& theme)
{
    if (first.values.size() != data.values.size()) {
        data = {};
        data.emptyText = tr("A and B have blocks of other sizes.");
        return data;
    }
    data.high = 0;
    for (size_t i = 0; i < data.values.size(); ++i) {
        data.values[i] -= first.values[i];
        if (!std::isnan(data.values[i]))
            data.high = std::max(data.high, std::abs(data.values[i]));
    }
    if (data.high <= 0)
        data.high = 1;
    data.low = -data.high;
    data.valueName.chop(1);
    data.valueName += tr(", B − A:");
    data.colour = [theme](double share) { return theme.difference(1 - 2 * share); };
    return data;
}

LineData magnitudeData(
    const std::vector<MagnitudeBand>& bands, const std::vector<MagnitudeBand>* other, const Theme& theme)
{
    LineData data;
    data.unit = QStringLiteral("dB");
    data.xLabel = tr("magnitude");
    data.emptyText = tr("This tensor has no elements.");
    LineSeries series { tr("SQNR, dB"), {}, theme.floatSeries, false, true };
    double all = 0;
    for (const MagnitudeBand& band : bands)
        all += band.sums.ee;
    for (const MagnitudeBand& band : bands) {
        const PartSums& sums = band.sums;
        data.items.push_back(tr("%1 … %2\n%3 values, RMS error %4\n%5 of the squared error")
                                 .arg(numberText(band.low), numberText(band.high), countText(sums.count),
                                     numberText(sums.rmse()), percentText(all > 0 ? Number(sums.ee / all) : Number())));
        series.values.push_back(sums.sqnrDb().value_or(std::numeric_limits<double>::quiet_NaN()));
    }
    for (const MagnitudeBand& band : bands)
        data.ticks.push_back(numberText(band.low, 2));
    data.series = { series };
    const bool otherErrs = other && std::ranges::any_of(*other, [](const MagnitudeBand& b) { return b.sums.ee > 0; });
    if (!bands.empty() && all == 0 && !otherErrs) { // no band has an SQNR
        data = {};
        data.emptyText = tr("There is no error: all values are the same.");
        return data;
    }
    if (other && other->size() == bands.size()) {
        data.series.front().name = tr("A: SQNR, dB");
        LineSeries second { tr("B: SQNR, dB"), {}, theme.otherSeries, true, true };
        for (const MagnitudeBand& band : *other)
            second.values.push_back(band.sums.sqnrDb().value_or(std::numeric_limits<double>::quiet_NaN()));
        data.series.push_back(std::move(second));
    }
    return data;
}

} // namespace qs
