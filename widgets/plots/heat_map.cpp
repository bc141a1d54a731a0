// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plots/heat_map.h"

#include <qcustomplot.h>

#include <cmath>

namespace qs {

namespace {

constexpr int kColourStops = 16;

QCPColorGradient gradientOf(const ColourOf& colour)
{
    QCPColorGradient gradient;
    gradient.clearColorStops();
    for (int i = 0; i <= kColourStops; ++i) {
        const double share = double(i) / kColourStops;
        gradient.setColorStopAt(share, colour ? colour(share) : QColor::fromHslF(0, 0, float(share)));
    }
    gradient.setNanHandling(QCPColorGradient::nhTransparent);
    return gradient;
}

/// Rows or columns as they are drawn.
struct Cells {
    int count = 0, each = 1; ///< how many, and for each of the data
    QCPRange centres; ///< of the first and the last
};

/// One row is drawn as two halves: the map takes the size of a cell from the distance of two.
Cells cellsOf(size_t count, double step)
{
    if (count == 1)
        return { 2, 2, QCPRange(step / 4 - 0.5, step * 3 / 4 - 0.5) };
    return { int(count), 1, QCPRange(step / 2 - 0.5, (double(count) - 0.5) * step - 0.5) };
}

} // namespace

HeatMap::HeatMap(QWidget* parent)
    : PlotWidget(parent)
    , m_map(new QCPColorMap(plot().xAxis, plot().yAxis))
    , m_mark(new QCPItemRect(&plot()))
{
    m_mark->setVisible(false);
    setAccessibleName(tr("Map"));
    plot().legend->setVisible(false);
    plot().yAxis->setRangeReversed(true);
    plot().xAxis->grid()->setVisible(false);
    plot().yAxis->grid()->setVisible(false);
    m_map->setInterpolate(false);
    m_map->setTightBoundary(false);
}

void HeatMap::setData(const HeatData& data)
{
    m_data = data;
    describe(m_data);
    rebuild();
}

void HeatMap::mark(const std::optional<QRectF>& columnsAndRows)
{
    m_mark->setVisible(columnsAndRows.has_value());
    if (columnsAndRows) {
        const QRectF area = columnsAndRows->translated(-0.5, -0.5); // whole numbers are the middles of elements
        m_mark->topLeft->setCoords(area.topLeft());
        m_mark->bottomRight->setCoords(area.bottomRight());
    }
    plot().replot(QCustomPlot::rpQueuedReplot);
}

void HeatMap::rebuild()
{
    m_mark->setPen(QPen(plotStyle().accent, 2));
    showMessage(m_data.values.empty() ? m_data.emptyText : QString());
    useLinearTicks(*plot().xAxis, TickNumbers::Whole);
    useLinearTicks(*plot().yAxis, TickNumbers::Whole);
    setAxisLabel(*plot().xAxis, m_data.columnName);
    setAxisLabel(*plot().yAxis, m_data.rowName);
    const Cells rows = cellsOf(m_data.rows, m_data.rowStep), columns = cellsOf(m_data.columns, m_data.columnStep);
    m_map->data()->setSize(columns.count, rows.count);
    m_map->data()->setRange(columns.centres, rows.centres);
    for (int r = 0; r < rows.count; ++r)
        for (int c = 0; c < columns.count; ++c)
            m_map->data()->setCell(
                c, r, m_data.values[size_t(r / rows.each) * m_data.columns + size_t(c / columns.each)]);
    m_map->setGradient(gradientOf(m_data.colour));
    m_map->setDataRange(QCPRange(m_data.low, m_data.high));
    resetView();
}

void HeatMap::fitAxes()
{
    plot().xAxis->setRange(-0.5, double(m_data.columns) * m_data.columnStep - 0.5);
    plot().yAxis->setRange(-0.5, double(m_data.rows) * m_data.rowStep - 0.5);
}

std::optional<std::pair<size_t, size_t>> HeatMap::cellAt(double x, double y) const
{
    const double column = std::floor((x + 0.5) / m_data.columnStep), row = std::floor((y + 0.5) / m_data.rowStep);
    if (column < 0 || row < 0 || column >= double(m_data.columns) || row >= double(m_data.rows))
        return std::nullopt;
    return std::pair(size_t(row), size_t(column));
}

void HeatMap::clicked(double x, double y)
{
    if (const auto cell = cellAt(x, y))
        emit cellChosen(qint64(double(cell->first) * m_data.rowStep), qint64(m_data.rowStep),
            qint64(double(cell->second) * m_data.columnStep), qint64(m_data.columnStep));
}

std::optional<std::pair<double, QString>> HeatMap::readout(double x, double y) const
{
    const auto cell = cellAt(x, y);
    if (!cell)
        return std::nullopt;
    const auto [row, column] = *cell;
    const double value = m_data.values[row * m_data.columns + column];
    if (std::isnan(value))
        return std::nullopt;
    return std::pair(x,
        QStringLiteral("%1 %2, %3 %4\n%5 %6")
            .arg(m_data.rowName)
            .arg(double(row) * m_data.rowStep)
            .arg(m_data.columnName)
            .arg(double(column) * m_data.columnStep)
            .arg(m_data.valueName, number(value)));
}

QString HeatMap::csv() const
{
    QString text = QStringLiteral("row,column,value\n");
    for (size_t i = 0; i < m_data.values.size(); ++i)
        text += QStringLiteral("%1,%2,%3\n")
                    .arg(double(i / m_data.columns) * m_data.rowStep)
                    .arg(double(i % m_data.columns) * m_data.columnStep)
                    .arg(m_data.values[i], 0, 'g', 17);
    return text;
}

} // namespace qs

#include "moc_heat_map.cpp"
