// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/base/elided_label.h"

#include <QAbstractTextDocumentLayout>
#include <QPainter>
#include <QStyle>
#include <QTextDocument>

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
    const QRect room = contentsRect();
    if (Qt::mightBeRichText(text()))
        return QLabel::sizeHint().width() <= width() ? QLabel::paintEvent(event) : paintRichText(room);
    const QString shown = fontMetrics().elidedText(text(), m_mode, room.width());
    if (shown != text() && shown.size() < kLeastLetters)
        return;
    QPainter painter(this);
    drawFrame(&painter);
    style()->drawItemText(&painter, room, int(alignment()), palette(), isEnabled(), shown, foregroundRole());
}

/// Rich text is cut at the right, with the mark behind it.
void ElidedLabel::paintRichText(const QRect& room)
{
    static const QString kMark = QStringLiteral("…");
    QTextDocument document;
    document.setDefaultFont(font());
    document.setDocumentMargin(0);
    document.setHtml(text());
    const int mark = fontMetrics().horizontalAdvance(kMark);
    QAbstractTextDocumentLayout::PaintContext context;
    context.palette = palette();
    context.palette.setColor(QPalette::Text, palette().color(foregroundRole()));
    context.clip = QRectF(0, 0, room.width() - mark, room.height());
    QPainter painter(this);
    drawFrame(&painter);
    painter.translate(room.left(), room.top() + (room.height() - document.size().height()) / 2);
    painter.save();
    painter.setClipRect(context.clip);
    document.documentLayout()->draw(&painter, context);
    painter.restore();
    painter.setPen(context.palette.color(QPalette::Text));
    painter.drawText(QRect(room.width() - mark, 0, mark, int(document.size().height())), Qt::AlignVCenter, kMark);
}

} // namespace qs
