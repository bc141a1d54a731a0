// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plots/plot_words.h"

#include <QCoreApplication>
#include <QStringList>

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

QString words(const char* text) { return QCoreApplication::translate("qs::PlotWords", text); }

/// Lowest and highest of the numbers that exist, with their places.
struct Extremes {
    size_t lowest = 0, highest = 0;
};

std::optional<Extremes> extremesOf(const std::vector<double>& values)
{
    std::optional<Extremes> found;
    for (size_t i = 0; i < values.size(); ++i) {
        if (std::isnan(values[i]))
            continue;
        if (!found)
            found = Extremes { i, i };
        found->lowest = values[i] < values[found->lowest] ? i : found->lowest;
        found->highest = values[i] > values[found->highest] ? i : found->highest;
    }
    return found;
}

/// Ends of the bins that hold something.
std::optional<PlotRange> spanOf(const HistogramSeries& series)
{
    const auto holds = [](double count) { return count > 0; };
    const auto first = std::ranges::find_if(series.counts, holds);
    if (first == series.counts.end())
        return std::nullopt;
    const auto last = std::find_if(series.counts.rbegin(), series.counts.rend(), holds);
    return PlotRange { series.edges[size_t(first - series.counts.begin())],
        series.edges[size_t(series.counts.rend() - last)] };
}

} // namespace

QString inWords(const HistogramData& data, const NumberText& number)
{
    if (data.series.empty())
        return data.emptyText;
    QStringList parts;
    for (const HistogramSeries& series : data.series)
        if (const auto span = spanOf(series))
            parts << words("%1: %2 to %3").arg(series.name, number(span->first), number(span->second));
    QString text = words("Histogram of %1. %2").arg(data.xLabel, parts.join(QStringLiteral("; ")));
    if (!data.representableLabel.isEmpty())
        text += QStringLiteral("; ") + data.representableLabel;
    return text;
}

QString inWords(const ChannelData& data, const NumberText& number)
{
    if (data.channels.empty())
        return data.emptyText;
    double low = data.channels.front().low, high = data.channels.front().high;
    for (const ChannelData::Channel& channel : data.channels) {
        low = std::min(low, channel.low);
        high = std::max(high, channel.high);
    }
    const auto widest = std::ranges::max_element(
        data.channels, {}, [](const ChannelData::Channel& channel) { return channel.high - channel.low; });
    return words("%1 channels, %2 to %3; the widest is channel %4: %5 to %6")
        .arg(data.channels.size())
        .arg(number(low), number(high))
        .arg(widest - data.channels.begin())
        .arg(number(widest->low), number(widest->high));
}

QString inWords(const HeatData& data, const NumberText& number)
{
    const auto ends = extremesOf(data.values);
    if (!ends || data.columns == 0)
        return data.emptyText;
    return words("%1 rows, %2 columns; %3 %4 to %5, the highest at %6 %7, %8 %9")
        .arg(data.rows)
        .arg(data.columns)
        .arg(data.valueName, number(data.values[ends->lowest]), number(data.values[ends->highest]), data.rowName)
        .arg(double(ends->highest / data.columns) * data.rowStep)
        .arg(data.columnName)
        .arg(double(ends->highest % data.columns) * data.columnStep);
}

QString inWords(const LineData& data, const NumberText& number)
{
    if (data.items.empty())
        return data.emptyText;
    const auto item = [&](size_t i) { return data.items[i].section(u'\n', 0, 0); };
    QStringList parts { words("%1 items").arg(data.items.size()) };
    for (const LineSeries& series : data.series)
        if (const auto ends = extremesOf(series.values))
            parts << words("%1: %2 at %3 to %4 %5 at %6")
                         .arg(series.name, number(series.values[ends->lowest]), item(ends->lowest),
                             number(series.values[ends->highest]), data.unit, item(ends->highest));
    return parts.join(QStringLiteral("; "));
}

QString inWords(const PointData& data, const NumberText& number)
{
    if (data.points.empty())
        return data.emptyText;
    const auto byX = [](const PointData::Point& point) { return point.x; };
    const auto byY = [](const PointData::Point& point) { return point.y; };
    const auto [left, right] = std::ranges::minmax(data.points, {}, byX);
    const auto [low, high] = std::ranges::minmax(data.points, {}, byY);
    return words("%1 points; %2: %3 to %4; %5: %6 to %7")
        .arg(data.points.size())
        .arg(data.xLabel, number(left.x), number(right.x), data.yLabel, number(low.y), number(high.y));
}

} // namespace qs
