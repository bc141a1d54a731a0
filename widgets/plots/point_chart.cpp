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
    plot().legend->setVisible(false);
}

void PointChart::setData(const PointData& data)
{
    m_data = data;
    forgetChoice();
    describe(m_data);
    rebuild();
}

void PointChart::addPoints(const std::vector<size_t>& points, Look look, const QColor& colour, double size)
{
    QVector<double> x, y;
    for (const size_t i : points) {
        x << m_data.points[i].x;
        y << m_data.points[i].y;
    }
    const bool line = look == Look::Line;
    QCPGraph* graph = plot().addGraph();
    graph->setLineStyle(line ? QCPGraph::lsLine : QCPGraph::lsNone);
    graph->setPen(QPen(colour, 1.4));
    graph->setScatterStyle(QCPScatterStyle(
        QCPScatterStyle::ssCircle, colour, look == Look::Filled ? colour : plotStyle().background, size));
    graph->setAdaptiveSampling(false);
    graph->setData(x, y);
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
        graph->setPen(QPen(plotStyle().muted, 1, Qt::DashLine));
        graph->setData({ line.x1, line.x2 }, { line.y1, line.y2 });
    }
    std::vector<size_t> plain, standing;
    for (size_t i = 0; i < m_data.points.size(); ++i)
        (m_data.points[i].stands ? standing : plain).push_back(i);
    addPoints(plain, m_data.joined ? Look::Line : Look::Hollow, plotStyle().accent, kPointSize);
    addPoints(standing, Look::Filled, plotStyle().clipping, kPointSize);
    if (chosen())
        addPoints({ *chosen() }, m_data.joined ? Look::Filled : Look::Hollow, plotStyle().accent, kMarkedSize);
    if (chosen() && !m_data.joined)
        addPoints({ *chosen() }, Look::Filled,
            m_data.points[*chosen()].stands ? plotStyle().clipping : plotStyle().accent, kPointSize);
    resetView();
}

void PointChart::fitAxes()
{
    if (m_data.points.empty())
        return;
    const auto [left, right] = std::ranges::minmax(m_data.points, {}, &PointData::Point::x);
    const auto [low, high] = std::ranges::minmax(m_data.points, {}, &PointData::Point::y);
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
    for (size_t i = 0; i < m_data.points.size(); ++i) {
        const double distance
            = std::hypot(plot().xAxis->coordToPixel(m_data.points[i].x) - plot().xAxis->coordToPixel(x),
                plot().yAxis->coordToPixel(m_data.points[i].y) - plot().yAxis->coordToPixel(y));
        if (distance < nearest) {
            nearest = distance;
            best = i;
        }
    }
    return best;
}

QString PointChart::csv() const
{
    QString text = QStringLiteral("x,y,text\n");
    for (const PointData::Point& point : m_data.points)
        text += QStringLiteral("%1,%2,%3\n")
                    .arg(point.x, 0, 'g', 17)
                    .arg(point.y, 0, 'g', 17)
                    .arg(csvCell(QString(point.text).replace(u'\n', u' ')));
    return text;
}

} // namespace qs
