// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plots/choice_plot.h"

#include <qcustomplot.h>

#include <QKeyEvent>

#include <algorithm>
#include <cmath>

namespace qs {

ChoicePlot::ChoicePlot(Arrows arrows, QWidget* parent)
    : PlotWidget(parent)
    , m_arrows(arrows)
    , m_marker(new QCPItemStraightLine(&plot()))
{
    m_marker->setVisible(false);
}

std::optional<size_t> ChoicePlot::numberAt(double x) const
{
    const double nearest = std::round(x);
    if (nearest < 0 || nearest >= double(itemCount()))
        return std::nullopt;
    return static_cast<size_t>(nearest);
}

void ChoicePlot::markByLine()
{
    m_marker->setPen(QPen(plotStyle().accent, 1.6, Qt::DotLine));
    m_marker->setVisible(m_chosen.has_value());
    for (QCPItemPosition* point : { m_marker->point1, m_marker->point2 })
        point->setTypeY(QCPItemPosition::ptAxisRectRatio);
    m_marker->point1->setCoords(xOf(m_chosen.value_or(0)), 0);
    m_marker->point2->setCoords(xOf(m_chosen.value_or(0)), 1);
    redraw();
}

void ChoicePlot::itemsChanged()
{
    if (m_chosen && *m_chosen >= itemCount())
        m_chosen.reset();
}

void ChoicePlot::setChosen(std::optional<size_t> item)
{
    const auto now = item && *item < itemCount() ? item : std::nullopt;
    describePart(now ? itemText(*now).replace(u'\n', QStringLiteral(", ")) : QString());
    if (now == m_chosen)
        return;
    m_chosen = now;
    markChosen();
}

void ChoicePlot::choose(size_t item)
{
    setChosen(item);
    emit itemChosen(item);
}

std::optional<std::pair<double, QString>> ChoicePlot::readout(double x, double y) const
{
    const auto item = itemAt(x, y);
    return item ? std::optional(std::pair(xOf(*item), itemText(*item))) : std::nullopt;
}

void ChoicePlot::clicked(double x, double y)
{
    if (const auto item = itemAt(x, y))
        choose(*item);
}

void ChoicePlot::keyPressEvent(QKeyEvent* event)
{
    const int step = event->key() == Qt::Key_Right ? 1 : event->key() == Qt::Key_Left ? -1 : 0;
    const auto last = static_cast<qsizetype>(itemCount()) - 1;
    if (step != 0 && last >= 0) {
        const qsizetype from = m_chosen ? static_cast<qsizetype>(*m_chosen) : (step > 0 ? -1 : last + 1);
        const auto to = static_cast<size_t>(std::clamp<qsizetype>(from + step, 0, last));
        if (m_arrows == Arrows::Choose)
            choose(to);
        else
            setChosen(to);
    } else if (m_chosen && (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter)) {
        emit itemChosen(*m_chosen);
    } else {
        PlotWidget::keyPressEvent(event);
    }
}

} // namespace qs

#include "moc_choice_plot.cpp"
