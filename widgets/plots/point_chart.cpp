// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plots/point_chart.h"

#include <qcustomplot.h>

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

constexpr double kReach = 14; ///< pixels from a point that still choose it
constexpr double kPointSize = 8, kMarkedSize = 12;

} // namespace

PointChart::PointChart(QWidget* parent)
    : PlotWidget(parent)
{
    setAccessibleName(tr("Points"));
    plot().legend->setVisible(false);
}

void PointChart::setData(const PointData& data)
{
    m_data = data;
    m_marked.reset();
    setAccessibleDescription(data.points.empty() ? data.emptyText : data.yLabel);
    rebuild();
}

void PointChart::setMarked(std::optional<size_t> point)
{
    m_marked = point && *point < m_data.points.size() ? point : std::nullopt;
    rebuild();
}

void PointChart::rebuild()
{
    plot().clearGraphs();
    showMessage(m_data.points.empty() ? m_data.emptyText : QString());
    useLinearTicks(*plot().xAxis);
    useLinearTicks(*plot().yAxis);
    plot().xAxis->setLabel(m_data.xLabel);
    plot().yAxis->setLabel(m_data.yLabel);
    const auto add = [this](const QVector<double>& x, const QVector<double>& y, double size, bool line) {
        QCPGraph* graph = plot().addGraph();
        graph->setLineStyle(line ? QCPGraph::lsLine : QCPGraph::lsNone);
        graph->setPen(QPen(plotStyle().accent, 1.4));
        graph->setScatterStyle(QCPScatterStyle(
            QCPScatterStyle::ssCircle, plotStyle().accent, line ? plotStyle().background : plotStyle().accent, size));
        graph->setAdaptiveSampling(false);
        graph->setData(x, y);
    };
    QVector<double> x, y;
    for (const PointData::Point& point : m_data.points) {
        x << point.x;
        y << point.y;
    }
    add(x, y, kPointSize, true);
    if (m_marked)
        add({ m_data.points[*m_marked].x }, { m_data.points[*m_marked].y }, kMarkedSize, false);
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

std::optional<size_t> PointChart::pointAt(double x, double y) const
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

std::optional<std::pair<double, QString>> PointChart::readout(double x, double y) const
{
    const auto point = pointAt(x, y);
    if (!point)
        return std::nullopt;
    return std::pair(m_data.points[*point].x, m_data.points[*point].text);
}

void PointChart::clicked(double x, double y)
{
    const auto point = pointAt(x, y);
    if (!point)
        return;
    setMarked(point);
    emit pointChosen(*point);
}

void PointChart::keyPressEvent(QKeyEvent* event)
{
    const size_t count = m_data.points.size();
    if (count > 0 && (event->key() == Qt::Key_Left || event->key() == Qt::Key_Right)) {
        const bool forward = event->key() == Qt::Key_Right;
        const size_t now = m_marked.value_or(forward ? count - 1 : 1);
        return setMarked((now + (forward ? 1 : count - 1)) % count);
    }
    if (m_marked && (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter)) {
        emit pointChosen(*m_marked);
        return;
    }
    PlotWidget::keyPressEvent(event);
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
