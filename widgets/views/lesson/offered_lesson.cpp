// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/lesson/offered_lesson.h"

#include <QAbstractItemView>
#include <QPainter>
#include <QScrollBar>

#include <array>

namespace qs {

namespace {

constexpr int kBeside = 8, kAbove = 6; ///< pixels around the texts
constexpr int kFlags = Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap;

struct TextLine {
    QString text;
    QFont font;
    QRect place;
};
using TextLines = std::array<TextLine, 2>;

/// What a bar leaves, whether it is there or not: it would come and go with the heights.
int widthOf(const QStyleOptionViewItem& option)
{
    const auto* view = qobject_cast<const QAbstractItemView*>(option.widget);
    return view ? view->contentsRect().width() - view->verticalScrollBar()->sizeHint().width() : option.rect.width();
}

/// The title, and below it the rest, in a place of that width.
TextLines partsOf(const QStyleOptionViewItem& option, const QModelIndex& index, int width)
{
    const QString whole = index.data().toString(), title = whole.section(u':', 0, 0);
    const QString more = whole.section(u':', 1).trimmed(), state = index.data(OfferedLesson::StateRole).toString();
    QFont bold = option.font;
    bold.setBold(true);
    TextLines parts { TextLine { title, bold, {} },
        TextLine { more.isEmpty() ? state : more + QStringLiteral(" · ") + state, option.font, {} } };
    int top = kAbove;
    for (TextLine& part : parts) {
        const QRect room(kBeside, top, width - 2 * kBeside, QWIDGETSIZE_MAX);
        part.place = QFontMetrics(part.font).boundingRect(room, kFlags, part.text);
        part.place.setWidth(room.width()); // the bounds of a text may be a pixel less than it takes
        top = part.place.bottom() + 1;
    }
    return parts;
}

} // namespace

QSize OfferedLesson::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const
{
    return { 1, partsOf(option, index, widthOf(option)).back().place.bottom() + 1 + kAbove };
}

void OfferedLesson::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const
{
    const bool marked = option.state & (QStyle::State_MouseOver | QStyle::State_Selected);
    const bool usable = option.state & QStyle::State_Enabled;
    const QColor muted = option.palette.color(QPalette::Shadow);
    painter->save();
    if (marked && usable)
        painter->fillRect(option.rect, option.palette.color(QPalette::Highlight));
    painter->setPen(option.palette.color(QPalette::AlternateBase));
    painter->drawLine(option.rect.bottomLeft(), option.rect.bottomRight());
    const TextLines parts = partsOf(option, index, widthOf(option));
    for (const TextLine& part : parts) {
        painter->setFont(part.font);
        painter->setPen(&part == &parts.front() && usable ? option.palette.color(QPalette::Text) : muted);
        painter->drawText(part.place.translated(option.rect.topLeft()), kFlags, part.text);
    }
    painter->restore();
}

} // namespace qs
