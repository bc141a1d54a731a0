// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plots/point_chart.h"

#include <qcustomplot.h>

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

constexpr double kReach = 14; ///< pixels from a point that still choose it
constexpr double kPointSize = 8, kMarkedSize = 13;

} // namespace

PointChart::PointChart(QWidget* parent)
    : ChoicePlot(Arrows::Mark, parent)
{
    setAccessibleName(tr("Points"));
    placeLegendBelow();
    showLegend(false);
}

void PointChart::setData(const PointData& data)
{
    m_data = data;
    forgetChoice();
    describe(m_data);
    rebuild();
}

void PointChart::addPoints(
    const std::vector<PointData::Point>& all, const std::vector<size_t>& points, const Marks& marks)
{
    QVector<double> x, y;
    for (const size_t i : points) {
        x << all[i].x;
        y << all[i].y;
    }
    QCPGraph* graph = plot().addGraph();
    graph->setName(marks.name);
    if (marks.name.isEmpty())
        graph->removeFromLegend();
    graph->setLineStyle(marks.look == Look::Line ? QCPGraph::lsLine : QCPGraph::lsNone);
    graph->setPen(QPen(marks.colour, 1.4));
    graph->setScatterStyle(
        QCPScatterStyle(marks.form == Form::Circle ? QCPScatterStyle::ssCircle : QCPScatterStyle::ssSquare,
            marks.colour, marks.look == Look::Filled ? marks.colour : plotStyle().background, marks.size));
    graph->setAdaptiveSampling(false);
    graph->setData(x, y);
}

void PointChart::addSeries(
    const std::vector<PointData::Point>& all, Form form, const QColor& colour, const QString& name)
{
    std::vector<size_t> plain, standing;
    for (size_t i = 0; i < all.size(); ++i)
        (all[i].stands ? standing : plain).push_back(i);
    addPoints(all, plain, { m_data.joined ? Look::Line : Look::Hollow, colour, kPointSize, form, name });
    addPoints(all, standing, { Look::Filled, plotStyle().clipping, kPointSize, form, {} });
}

void PointChart::markChosenOf(const std::vector<PointData::Point>& all, Form form, const QColor& colour)
{
    const std::vector<size_t> one { *chosen() };
    addPoints(all, one, { m_data.joined ? Look::Filled : Look::Hollow, colour, kMarkedSize, form, {} });
    if (!m_data.joined)
        addPoints(
            all, one, { Look::Filled, all[*chosen()].stands ? plotStyle().clipping : colour, kPointSize, form, {} });
}

void PointChart::rebuild()
{
    plot().clearGraphs();
    showMessage(m_data.points.empty() ? m_data.emptyText : QString());
    useLinearTicks(*plot().xAxis);
    useLinearTicks(*plot().yAxis);
    setAxisLabel(*plot().xAxis, m_data.xLabel);
    setAxisLabel(*plot().yAxis, m_data.yLabel);
    for (const PlotLine& line : m_data.lines) {
        QCPGraph* graph = plot().addGraph();
        graph->removeFromLegend();
        graph->setPen(QPen(plotStyle().muted, 1, Qt::DashLine));
        graph->setData({ line.x1, line.x2 }, { line.y1, line.y2 });
    }
    const bool both = !m_data.others.empty();
    addSeries(m_data.points, Form::Circle, plotStyle().accent, m_data.name);
    if (both)
        addSeries(m_data.others, Form::Square, m_data.otherColour, m_data.otherName);
    if (chosen() && both)
        markChosenOf(m_data.others, Form::Square, m_data.otherColour);
    if (chosen())
        markChosenOf(m_data.points, Form::Circle, plotStyle().accent);
    showLegend(both);
    resetView();
}

void PointChart::fitAxes()
{
    if (m_data.points.empty())
        return;
    std::vector<PointData::Point> all = m_data.points;
    all.insert(all.end(), m_data.others.begin(), m_data.others.end());
    const auto [left, right] = std::ranges::minmax(all, {}, &PointData::Point::x);
    const auto [low, high] = std::ranges::minmax(all, {}, &PointData::Point::y);
    const double wide = std::max(right.x - left.x, 1e-9 + std::fabs(right.x) * 0.02);
    const double tall = std::max(high.y - low.y, 1e-9 + std::fabs(high.y) * 0.02);
    plot().xAxis->setRange(left.x - wide * 0.06, right.x + wide * 0.06);
    plot().yAxis->setRange(low.y - tall * 0.1, high.y + tall * 0.1);
    plot().xAxis->setRangeReversed(m_data.xReversed);
}

std::optional<size_t> PointChart::itemAt(double x, double y) const
{
    std::optional<size_t> best;
    double nearest = kReach;
    for (const auto* points : { &m_data.points, &m_data.others })
        for (size_t i = 0; i < points->size(); ++i) {
            const double distance
                = std::hypot(plot().xAxis->coordToPixel((*points)[i].x) - plot().xAxis->coordToPixel(x),
                    plot().yAxis->coordToPixel((*points)[i].y) - plot().yAxis->coordToPixel(y));
            if (distance < nearest) {
                nearest = distance;
                best = i;
            }
        }
    return best;
}

QString PointChart::csv() const
{
    const bool both = !m_data.others.empty();
    QString text = both ? QStringLiteral("x,%1,%2,text\n").arg(csvCell(m_data.name), csvCell(m_data.otherName))
                        : QStringLiteral("x,y,text\n");
    for (size_t i = 0; i < m_data.points.size(); ++i) {
        const PointData::Point& point = m_data.points[i];
        text += QStringLiteral("%1,%2,").arg(point.x, 0, 'g', 17).arg(point.y, 0, 'g', 17);
        if (both)
            text += QString::number(m_data.others[i].y, 'g', 17) + u',';
        text += csvCell(QString(point.text).replace(u'\n', u' ')) + u'\n';
    }
    return text;
}

} // namespace qs

#include "moc_point_chart.cpp"
