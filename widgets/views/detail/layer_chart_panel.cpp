// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/detail/layer_chart_panel.h"

#include "widgets/models/base/formatting.h"
#include "widgets/plots/line_chart.h"
#include "widgets/session/session.h"
#include "widgets/session/shown/empty_texts.h"
#include "widgets/views/theme/plot_theme.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace qs {

LayerChartPanel::LayerChartPanel(Session& session, QWidget* parent)
    : Panel(QStringLiteral("layer-chart"), tr("Layer chart"), parent)
    , m_session(session)
    , m_chart(new LineChart(this))
{
    setContent(m_chart);
    setFocusProxy(m_chart);
    connect(m_chart, &LineChart::itemChosen, this, [this](size_t row) { m_session.selection().selectActivation(row); });
    connect(&m_session, &Session::snapshotChanged, this, &LayerChartPanel::refresh);
    connect(&m_session, &Session::themeChanged, this, &LayerChartPanel::applyTheme);
    connect(&m_session.selection(), &Selection::changed, this, &LayerChartPanel::followSelection);
    applyTheme();
}

void LayerChartPanel::applyTheme()
{
    m_chart->setStyle(plotStyleOf(m_session.theme()));
    refresh();
}

void LayerChartPanel::refresh()
{
    m_sample = m_session.selection().current().sample;
    const LineData lines = layerChartData(*m_session.snapshot(), m_session.theme(), m_sample);
    header()->setInfo(lines.items.empty() ? QString() : tr("SQNR in dB by layer"));
    m_chart->setData(lines);
    followSelection();
}

void LayerChartPanel::followSelection()
{
    if (m_sample != m_session.selection().current().sample)
        return refresh();
    m_chart->setChosen(m_session.selection().current().activation);
}

namespace {

/// The accumulated line of a second quantized model, over the values that both have.
void addOther(LineData& data, const Snapshot& snapshot, const Theme& theme)
{
    LineSeries other { LayerChartPanel::tr("B"), {}, theme.otherSeries, false, true };
    for (const ActivationRow& row : snapshot.comparison->activations)
        other.values.push_back(
            row.other && row.other->sqnrDb ? *row.other->sqnrDb : std::numeric_limits<double>::quiet_NaN());
    data.series.push_back(std::move(other));
}

} // namespace

LineData layerChartData(const Snapshot& snapshot, const Theme& theme, std::optional<size_t> sample)
{
    LineData data;
    data.unit = QStringLiteral("dB");
    data.emptyText = whyNothingCompared(snapshot);
    if (!snapshot.comparison)
        return data;
    LineSeries accumulated { LayerChartPanel::tr("accumulated"), {}, theme.floatSeries, false, false };
    LineSeries added { LayerChartPanel::tr("added here"), {}, theme.quantSeries, false, true };
    LineSeries ideal { LayerChartPanel::tr("ideal"), {}, theme.idealSeries, true, true };
    const auto orGap = [](const Number& number) { return number.value_or(std::numeric_limits<double>::quiet_NaN()); };
    for (const ActivationRow& row : snapshot.comparison->activations) {
        data.items.push_back(toQt(row.name));
        accumulated.values.push_back(orGap(row.accumulated.sqnrDb));
        added.values.push_back(orGap(row.localSqnrDb));
        ideal.values.push_back(orGap(row.idealSqnrDb));
    }
    data.series = { ideal, accumulated, added };
    if (snapshot.other)
        addOther(data, snapshot, theme);
    const Comparison& c = *snapshot.comparison;
    if (sample && snapshot.data && *sample - c.firstSample < c.samples && *sample < snapshot.data->samples()) {
        LineSeries one { toQt(snapshot.data->sampleName(*sample)), {}, theme.noiseSeries, false, false };
        for (const ActivationRow& row : c.activations) {
            const size_t at = *sample - c.firstSample;
            one.values.push_back(orGap(at < row.sampleSqnrDb.size() ? row.sampleSqnrDb[at] : Number()));
        }
        data.series.push_back(one);
    }
    if (data.items.empty())
        data.emptyText = LayerChartPanel::tr("The two models have no tensor in common.");
    const auto drawn = [](const LineSeries& series) {
        return std::ranges::any_of(series.values, [](double value) { return std::isfinite(value); });
    };
    if (!data.items.empty() && std::ranges::none_of(data.series, drawn)) {
        data.emptyText = LayerChartPanel::tr("The two models compute the same: there is no noise to draw.");
        data.items.clear();
        data.series.clear();
    }
    return data;
}

} // namespace qs

#include "moc_layer_chart_panel.cpp"
