// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plots/line_chart.h"

#include <qcustomplot.h>

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

constexpr int kTickGap = 12, kBesideAxes = 60; ///< pixels between names; around the axes
constexpr size_t kMostDots = 80; ///< above that, only values without neighbours are marked by dots

/// True when a value stands between gaps, where a line would show nothing.
bool standsAlone(const std::vector<double>& values, size_t i)
{
    return std::isfinite(values[i]) && (i == 0 || !std::isfinite(values[i - 1]))
        && (i + 1 == values.size() || !std::isfinite(values[i + 1]));
}

} // namespace

LineChart::LineChart(QWidget* parent)
    : ChoicePlot(Arrows::Choose, parent)
{
    setAccessibleName(tr("Line chart"));
    placeLegendBelow();
    plot().axisRect()->setRangeDrag(Qt::Horizontal | Qt::Vertical);
}

void LineChart::setData(const LineData& data)
{
    m_data = data;
    itemsChanged();
    describe(m_data);
    rebuild();
}

void LineChart::rebuild()
{
    plot().clearGraphs();
    showMessage(m_data.items.empty() ? m_data.emptyText : QString());
    for (const LineSeries& series : m_data.series)
        addSeries(series);
    const bool named = !m_data.ticks.empty();
    plot().xAxis->setTickLabels(named);
    plot().xAxis->setTicks(named);
    setAxisLabel(*plot().xAxis, m_data.xLabel);
    if (named)
        plot().xAxis->setTicker(QSharedPointer<QCPAxisTickerText>::create());
    plot().xAxis->grid()->setVisible(false);
    const bool one = m_data.series.size() == 1; // its name stands beside the axis
    showLegend(!one);
    setAxisLabel(*plot().yAxis, one ? m_data.series.front().name : QString());
    placeTickNames();
    useLinearTicks(*plot().yAxis);
    markChosen();
    resetView();
}

/// As many names below the axis as have room beside each other.
void LineChart::placeTickNames()
{
    const auto names = qSharedPointerDynamicCast<QCPAxisTickerText>(plot().xAxis->ticker());
    if (!names || m_data.ticks.empty())
        return;
    const QFontMetrics metrics(plot().xAxis->tickLabelFont());
    int widest = 1;
    for (const QString& name : m_data.ticks)
        widest = std::max(widest, metrics.horizontalAdvance(name) + kTickGap);
    const auto room = size_t(std::max(1, (width() - kBesideAxes + kTickGap) / widest));
    // From the first item that has a number: the axis begins there.
    const auto exists = [&](size_t i) {
        return std::ranges::any_of(m_data.series,
            [&](const LineSeries& series) { return i < series.values.size() && std::isfinite(series.values[i]); });
    };
    size_t first = 0, last = m_data.ticks.size() - 1;
    while (first < last && !exists(first))
        ++first;
    while (last > first && !exists(last))
        --last;
    size_t step = (last - first) / room + 1;
    while (step < last - first && (last - first) % step != 0) // both ends have names
        ++step;
    const auto half = [&](size_t i) { return metrics.horizontalAdvance(m_data.ticks[i]) / 2; };
    if (step > last - first && half(first) + kTickGap + half(last) <= width() - kBesideAxes)
        step = std::max<size_t>(last - first, 1); // nothing between them
    names->clear();
    for (size_t i = first; i <= last; i += step)
        names->addTick(double(i), m_data.ticks[i]);
}

void LineChart::resizeEvent(QResizeEvent* event)
{
    placeTickNames(); // before they are drawn
    ChoicePlot::resizeEvent(event);
}

void LineChart::addSeries(const LineSeries& series)
{
    QCPGraph* graph = plot().addGraph();
    graph->setName(series.name);
    QVector<double> x, y;
    for (size_t i = 0; i < series.values.size(); ++i) {
        const bool exists = std::isfinite(series.values[i]);
        if (!exists && series.bridgeGaps)
            continue;
        x.push_back(double(i));
        y.push_back(exists ? series.values[i] : qQNaN());
    }
    graph->setData(x, y, true);
    if (std::ranges::none_of(series.values, [](double value) { return std::isfinite(value); }))
        graph->removeFromLegend();
    graph->setPen(QPen(series.colour, series.dashed ? 1.6 : 2, series.dashed ? Qt::DashLine : Qt::SolidLine));
    const bool few = series.values.size() <= kMostDots;
    if (few && !series.dashed)
        graph->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssDisc, series.colour, series.colour, 4));
    if (few || series.bridgeGaps)
        return;
    QVector<double> aloneX, aloneY;
    for (size_t i = 0; i < series.values.size(); ++i) {
        if (standsAlone(series.values, i)) {
            aloneX.push_back(double(i));
            aloneY.push_back(series.values[i]);
        }
    }
    if (aloneX.isEmpty())
        return;
    QCPGraph* dots = plot().addGraph();
    dots->setData(aloneX, aloneY, true);
    dots->setLineStyle(QCPGraph::lsNone);
    dots->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssDisc, series.colour, series.colour, 4));
    dots->removeFromLegend();
}

void LineChart::fitAxes()
{
    double low = 0, high = 0;
    for (const LineSeries& series : m_data.series) {
        for (const double v : series.values) {
            if (std::isfinite(v)) {
                low = std::min(low, v);
                high = std::max(high, v);
            }
        }
    }
    if (low == high)
        high = low + 1;
    const double pad = (high - low) * 0.05;
    plot().yAxis->setRange(low - (low < 0 ? pad : 0), high + pad);
    const double last = m_data.items.empty() ? 1 : double(m_data.items.size() - 1);
    const double side = std::max(0.5, last * 0.015);
    plot().xAxis->setRange(-side, last + side);
}

QString LineChart::itemText(size_t item) const
{
    QString text = m_data.items[item];
    for (const LineSeries& series : m_data.series)
        if (item < series.values.size() && std::isfinite(series.values[item]))
            text += QStringLiteral("\n%1: %2 %3").arg(series.name, number(series.values[item]), m_data.unit);
    return text;
}

QString LineChart::csv() const
{
    QString text = QStringLiteral("item");
    for (const LineSeries& series : m_data.series)
        text += QLatin1Char(',') + csvCell(series.name);
    text += QLatin1Char('\n');
    for (size_t i = 0; i < m_data.items.size(); ++i) {
        text += csvCell(m_data.items[i]);
        for (const LineSeries& series : m_data.series) {
            text += QLatin1Char(',');
            if (i < series.values.size() && std::isfinite(series.values[i]))
                text += QString::number(series.values[i], 'g', 17);
        }
        text += QLatin1Char('\n');
    }
    return text;
}

} // namespace qs

#include "moc_line_chart.cpp"
