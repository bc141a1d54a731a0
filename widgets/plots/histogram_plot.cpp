// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plots/histogram_plot.h"

#include "widgets/plots/histogram_look.h"

#include <qcustomplot.h>

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

constexpr double kLogLeastTop = 200; ///< fewer decades would have odd ticks
constexpr double kWidestView = 4; ///< a range is shown whole up to that many times the data's
constexpr double kLowPlot = 12; ///< height in lines below which bins need all the room there is
constexpr int kSide = 15, kLabelGap = 6; ///< pixels around the axes; above the text there

/// Bin of a series that holds x.
std::optional<size_t> binAt(const HistogramSeries& series, double x)
{
    const auto after = std::upper_bound(series.edges.begin(), series.edges.end(), x);
    if (after == series.edges.begin() || after == series.edges.end())
        return std::nullopt;
    return static_cast<size_t>(after - series.edges.begin()) - 1;
}

} // namespace

HistogramPlot::HistogramPlot(QWidget* parent)
    : PlotWidget(parent)
{
    setAccessibleName(tr("Histogram"));
    placeLegendBelow();
    connect(&plot(), &QCustomPlot::afterLayout, this, &HistogramPlot::placeLabels);
}

HistogramPlot::~HistogramPlot() = default;

void HistogramPlot::setData(const HistogramData& data)
{
    m_data = data;
    if (m_data.referenceWidth <= 0 && !data.series.empty() && data.series[0].edges.size() > 1)
        m_data.referenceWidth = data.series[0].edges[1] - data.series[0].edges[0];
    describe(m_data);
    rebuild();
}

void HistogramPlot::setScale(AxisScale scale)
{
    m_scale = scale;
    rebuild();
}

/// Count per reference width.
double HistogramPlot::shownCount(const HistogramSeries& series, size_t bin) const
{
    const double width = series.edges[bin + 1] - series.edges[bin];
    return width > 0 ? series.counts[bin] * m_data.referenceWidth / width : 0;
}

void HistogramPlot::showRange(const PlotRange& range, const QString& label)
{
    m_data.representable = range;
    m_data.representableLabel = label;
    describe(m_data);
    rebuildRange();
}

void HistogramPlot::showTicks(std::vector<RangeTick> ticks)
{
    m_data.ticks = std::move(ticks);
    rebuildRange();
}

void HistogramPlot::rebuild()
{
    m_clipped = nullptr;
    plot().clearGraphs();
    showMessage(m_data.series.empty() ? m_data.emptyText : QString());

    const bool logarithmic = m_scale == AxisScale::Logarithmic;
    plot().yAxis->setScaleType(logarithmic ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
    if (logarithmic)
        useLogarithmicTicks(*plot().yAxis);
    else
        useLinearTicks(*plot().yAxis);
    useLinearTicks(*plot().xAxis);
    labelXAxis();
    plot().axisRect()->setMinimumMargins({ kSide, fontMetrics().height() + kLabelGap, kSide, kSide });
    plot().xAxis->grid()->setVisible(false);
    for (const HistogramSeries& series : m_data.series)
        addSeries(series);
    fitAxes(); // handles stand within
    rebuildRange();
    resetView();
}

void HistogramPlot::addSeries(const HistogramSeries& series)
{
    QCPGraph* graph = plot().addGraph();
    graph->setName(series.name);
    graph->setLineStyle(QCPGraph::lsStepLeft);
    graph->setAdaptiveSampling(false);
    const double floor = m_scale == AxisScale::Logarithmic ? kLogFloor : 0;
    QVector<double> x, y;
    for (size_t bin = 0; bin < series.counts.size(); ++bin) {
        if (bin == 0) {
            x.push_back(series.edges[0]);
            y.push_back(floor);
        }
        x.push_back(series.edges[bin]);
        y.push_back(std::max(floor, shownCount(series, bin)));
    }
    if (!series.counts.empty()) {
        x.push_back(series.edges.back());
        y.push_back(floor);
    }
    graph->setData(x, y, true);
    QPen pen(series.colour, 1.4);
    if (series.look == HistogramSeries::Look::Dashed)
        pen.setStyle(Qt::DashLine);
    graph->setPen(pen);
    if (series.look == HistogramSeries::Look::Filled)
        graph->setBrush(translucent(series.colour, 60));
}

/// Ends of the filled bins.
PlotRange HistogramPlot::dataRange() const
{
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const HistogramSeries& series : m_data.series) {
        if (series.look == HistogramSeries::Look::Dashed)
            continue;
        for (size_t bin = 0; bin < series.counts.size(); ++bin) {
            if (series.counts[bin] > 0) {
                low = std::min(low, series.edges[bin]);
                high = std::max(high, series.edges[bin + 1]);
            }
        }
    }
    return low < high ? PlotRange { low, high } : PlotRange { -1, 1 };
}

void HistogramPlot::fitAxes()
{
    auto [low, high] = dataRange();
    if (m_data.representable) {
        const double room = (high - low) * (kWidestView - 1);
        low = std::min(low, std::max(m_data.representable->first, low - room));
        high = std::max(high, std::min(m_data.representable->second, high + room));
    }
    m_fitted = { low, high };
    const double pad = (high - low) * 0.03;
    plot().xAxis->setRange(low - pad, high + pad);

    double top = 1;
    for (const HistogramSeries& series : m_data.series)
        if (series.look != HistogramSeries::Look::Dashed || m_scale == AxisScale::Logarithmic)
            for (size_t bin = 0; bin < series.counts.size(); ++bin)
                top = std::max(top, shownCount(series, bin));
    if (m_scale == AxisScale::Logarithmic)
        plot().yAxis->setRange(kLogFloor, std::max(kLogLeastTop, top * 3));
    else
        plot().yAxis->setRange(0, top * 1.05);
}

void HistogramPlot::resizeEvent(QResizeEvent* event)
{
    labelXAxis();
    PlotWidget::resizeEvent(event);
}

/// Only where there is height for it.
void HistogramPlot::labelXAxis() { setAxisLabel(*plot().xAxis, linesHigh() < kLowPlot ? QString() : m_data.xLabel); }

void HistogramPlot::clicked(double x, double)
{
    for (const HistogramSeries& series : m_data.series) {
        const auto bin = binAt(series, x);
        if (!bin || series.counts[*bin] <= 0)
            continue;
        emit binChosen({ series.edges[*bin], series.edges[*bin + 1] });
        return;
    }
}

std::optional<std::pair<double, QString>> HistogramPlot::readout(double x, double) const
{
    QString text = number(x);
    bool any = false;
    for (const HistogramSeries& series : m_data.series) {
        if (const auto bin = binAt(series, x)) {
            any = true;
            text += QStringLiteral("\n%1: %2  [%3, %4]")
                        .arg(series.name,
                            QLocale::c().toString(static_cast<qlonglong>(std::llround(series.counts[*bin]))),
                            number(series.edges[*bin]), number(series.edges[*bin + 1]));
        }
    }
    if (!any)
        return std::nullopt;
    return std::pair(x, text);
}

QString HistogramPlot::csv() const
{
    QString text = QStringLiteral("series,from,to,count\n");
    for (const HistogramSeries& series : m_data.series)
        for (size_t bin = 0; bin < series.counts.size(); ++bin)
            text += QStringLiteral("%1,%2,%3,%4\n")
                        .arg(csvCell(series.name))
                        .arg(series.edges[bin], 0, 'g', 17)
                        .arg(series.edges[bin + 1], 0, 'g', 17)
                        .arg(series.counts[bin], 0, 'g', 17);
    return text;
}

} // namespace qs

#include "moc_histogram_plot.cpp"
