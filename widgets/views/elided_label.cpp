// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/elided_label.h"

#include <QPainter>
#include <QStyle>

namespace qs {

ElidedLabel::ElidedLabel(Qt::TextElideMode mode, QWidget* parent)
    : QLabel(parent)
    , m_mode(mode)
{
    setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
}

void ElidedLabel::paintEvent(QPaintEvent* event)
{
    if (Qt::mightBeRichText(text()))
        return QLabel::paintEvent(event);
    QPainter painter(this);
    const QRect room = contentsRect();
    style()->drawItemText(&painter, room, int(alignment()), palette(), isEnabled(),
        fontMetrics().elidedText(text(), m_mode, room.width()), foregroundRole());
}

} // namespace qs
