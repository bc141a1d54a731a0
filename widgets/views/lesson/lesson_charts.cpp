// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/lesson/lesson_charts.h"

#include "widgets/models/base/formatting.h"
#include "widgets/models/base/translated.h"
#include "widgets/plots/channel_chart.h"
#include "widgets/plots/histogram_plot.h"
#include "widgets/plots/line_chart.h"
#include "widgets/session/shown/selection.h"
#include "widgets/views/detail/channel_data.h"
#include "widgets/views/detail/distribution_data.h"
#include "widgets/views/detail/layer_chart_panel.h"
#include "widgets/views/lesson/step_panels.h"
#include "widgets/views/theme/plot_theme.h"

#include <algorithm>

namespace qs {

namespace {

constexpr QSize kChartSize { 560, 190 }; ///< pixels of a screen, by which texts are as large as those around it

LessonChart drawn(const QString& caption, PlotWidget& plot)
{
    plot.setStyle(plotStyleOf(Theme::light()));
    return { caption, plot.vectors(kChartSize), kChartSize };
}

Place placeNamed(const SnapshotPtr& snapshot, const std::string& name)
{
    Selection selection;
    selection.rebind(snapshot);
    if (name.empty() || !selection.selectByName(name))
        return {};
    return selection.current();
}

std::optional<LessonChart> distribution(const Snapshot& snapshot, const Place& place)
{
    const DistributionView view = distributionOf(snapshot, place, Theme::light());
    if (view.data.series.empty())
        return std::nullopt;
    HistogramPlot plot;
    HistogramData data = view.data;
    data.movable = false;
    plot.setData(data);
    return drawn(tr("Values of %1, %2").arg(view.title, view.subtitle), plot);
}

std::optional<LessonChart> channels(const Snapshot& snapshot, const Place& place)
{
    if (!place.weight || *place.weight >= snapshot.comparison->weights.size())
        return std::nullopt;
    const WeightRow& row = snapshot.comparison->weights[*place.weight];
    const ChannelView view = channelsOfWeight(row, nullptr, Theme::light());
    if (view.data.channels.size() < 2)
        return std::nullopt;
    ChannelChart plot;
    plot.setData(view.data);
    return drawn(tr("Channels of %1").arg(toQt(row.name)), plot);
}

std::optional<LessonChart> layers(const Snapshot& snapshot)
{
    const LineData data = layerChartData(snapshot, Theme::light(), std::nullopt);
    if (data.items.empty())
        return std::nullopt;
    LineChart plot;
    plot.setData(data);
    return drawn(tr("SQNR in dB by layer"), plot);
}

/// The weight of a node stands for it.
Place weightBehind(const Snapshot& snapshot, const Place& place, const std::string& name)
{
    const auto& weights = snapshot.comparison->weights;
    const auto found = std::ranges::find_if(
        weights, [&](const WeightRow& row) { return row.node == name && row.params.scale.size() > 0 && !row.bias; });
    if (place.weight || found == weights.end())
        return place;
    Place made;
    made.weight = size_t(found - weights.begin());
    return made;
}

/// What of a window's panels is a chart: the values of what is selected, a weight's channels, else the layers.
QStringList chartsOfStep(const LessonStep& step)
{
    QStringList charts = panelsOfStep(step);
    if (!step.setup.select.empty())
        charts << QStringLiteral("distribution");
    else if (charts.contains(QStringLiteral("tensors")))
        charts << QStringLiteral("layer-chart");
    return charts;
}

} // namespace

std::vector<LessonChart> LessonCharts::of(const SnapshotPtr& snapshot, const LessonStep& step, bool hides)
{
    std::vector<LessonChart> charts;
    const std::string& name = step.setup.select;
    const Place place = placeNamed(snapshot, name);
    for (const QString& panel : chartsOfStep(step)) {
        if (hides && std::ranges::find(step.hide, panel.toStdString()) != step.hide.end())
            continue;
        std::optional<LessonChart> chart;
        const std::string key = panel.toStdString() + (panel == QStringLiteral("layer-chart") ? "" : '\n' + name);
        if (m_made.contains({ snapshot, key }))
            continue;
        if (panel == QStringLiteral("distribution"))
            chart = distribution(*snapshot, place);
        else if (panel == QStringLiteral("channels"))
            chart = channels(*snapshot, weightBehind(*snapshot, place, name));
        else if (panel == QStringLiteral("layer-chart"))
            chart = layers(*snapshot);
        if (!chart)
            continue;
        m_made.emplace(snapshot, key);
        charts.push_back(std::move(*chart));
    }
    return charts;
}

} // namespace qs
