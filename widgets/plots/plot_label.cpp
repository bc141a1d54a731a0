// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plots/plot_label.h"

#include <QPainter>

namespace qs {

PlotLabel::PlotLabel(QWidget* parent)
    : QLabel(parent)
{
    setTextFormat(Qt::PlainText);
    setAttribute(Qt::WA_TransparentForMouseEvents);
}

void PlotLabel::setColours(const Colours& colours)
{
    m_colours = colours;
    update();
}

void PlotLabel::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    if (m_colours.fill.isValid())
        painter.fillRect(rect(), m_colours.fill);
    if (m_colours.border.isValid()) {
        painter.setPen(m_colours.border);
        painter.drawRect(rect().adjusted(0, 0, -1, -1));
    }
    if (!m_colours.text.isValid())
        return;
    painter.setPen(m_colours.text);
    const int room = margin();
    const int flags = int(alignment()) | (wordWrap() ? Qt::TextWordWrap : 0);
    painter.drawText(contentsRect().adjusted(room, room, -room, -room), flags, text());
}

} // namespace qs

#include "moc_plot_label.cpp"
