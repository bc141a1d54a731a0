// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/base/elided_label.h"

#include <QPainter>
#include <QStyle>

namespace qs {

namespace {

constexpr int kLeastLetters = 6; ///< less than that, with the ellipsis, says nothing

} // namespace

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
    const QRect room = contentsRect();
    const QString shown = fontMetrics().elidedText(text(), m_mode, room.width());
    if (shown != text() && shown.size() < kLeastLetters)
        return;
    QPainter painter(this);
    style()->drawItemText(&painter, room, int(alignment()), palette(), isEnabled(), shown, foregroundRole());
}

} // namespace qs
