// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/palette/palette_delegate.h"

#include "widgets/models/search/palette_model.h"

#include <QPainter>
#include <QTextLayout>

#include <algorithm>

namespace qs {

namespace {

QFont boldOf(QFont font)
{
    font.setBold(true);
    return font;
}

/// The name, cut in its middle where there is no room; letters that match are bold. Returns its width.
int drawName(QPainter& painter, const QRect& room, const QString& name, const QVariantList& places)
{
    const QFont bold = boldOf(painter.font());
    const QString shown = QFontMetrics(bold).elidedText(name, Qt::ElideMiddle, room.width());
    QTextLayout layout(shown, painter.font());
    QList<QTextLayout::FormatRange> formats;
    if (shown == name) {
        QTextCharFormat strong;
        strong.setFont(bold);
        for (const QVariant& place : places)
            formats << QTextLayout::FormatRange { place.toInt(), 1, strong };
    }
    layout.setFormats(formats);
    layout.beginLayout();
    QTextLine line = layout.createLine();
    layout.endLayout();
    const QPointF at(room.left(), room.top() + (room.height() - line.height()) / 2);
    layout.draw(&painter, at);
    return int(line.naturalTextWidth()) + 1;
}

/// An action's name begins with its menu, the last one of the note, and so loses nothing where there is no note.
bool saysNote(const QString& name, const QString& note)
{
    const QString menu = note.section(QStringLiteral(" ▸ "), -1);
    return !menu.isEmpty() && name.startsWith(menu + QStringLiteral(": "));
}

} // namespace

QSize PaletteDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex&) const
{
    const QFontMetrics metrics(option.font);
    return { 20 * metrics.averageCharWidth(), metrics.height() * 3 / 2 };
}

void PaletteDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const
{
    painter->save();
    painter->setFont(option.font);
    if (option.state & QStyle::State_Selected)
        painter->fillRect(option.rect, option.palette.brush(QPalette::Highlight));
    const QFontMetrics metrics(option.font);
    const int em = metrics.horizontalAdvance(u'm');
    const QColor text = option.palette.color(QPalette::Text), muted = option.palette.color(QPalette::Shadow);
    const QString whyNot = index.data(PaletteModel::WhyNotRole).toString();
    QRect room = option.rect.adjusted(em, 0, -em, 0);

    painter->setPen(muted);
    const QString kind = index.data(PaletteModel::KindRole).toString();
    const int kindWidth = metrics.horizontalAdvance(kind);
    painter->drawText(room, Qt::AlignRight | Qt::AlignVCenter, kind);
    room.setRight(room.right() - kindWidth - em);
    if (const QString keys = index.data(PaletteModel::KeysRole).toString(); !keys.isEmpty()) {
        const QString shown = metrics.elidedText(keys, Qt::ElideRight, room.width() / 3);
        painter->setPen(whyNot.isEmpty() ? text : muted);
        painter->drawText(room, Qt::AlignRight | Qt::AlignVCenter, shown);
        room.setRight(room.right() - metrics.horizontalAdvance(shown) - em);
    }
    const QString note = whyNot.isEmpty() ? index.data(PaletteModel::NoteRole).toString() : whyNot;
    int noteWidth = std::min(metrics.horizontalAdvance(note), room.width() / (whyNot.isEmpty() ? 3 : 2));
    const QString name = index.data().toString();
    if (whyNot.isEmpty() && saysNote(name, note))
        noteWidth
            = std::clamp(room.width() - em - QFontMetrics(boldOf(option.font)).horizontalAdvance(name), 0, noteWidth);
    painter->setPen(whyNot.isEmpty() ? text : muted);
    const int used = drawName(
        *painter, room.adjusted(0, 0, -noteWidth - em, 0), name, index.data(PaletteModel::PlacesRole).toList());
    painter->setPen(muted);
    const QRect rest = room.adjusted(used + em, 0, 0, 0);
    painter->drawText(
        rest, Qt::AlignLeft | Qt::AlignVCenter, metrics.elidedText(note, Qt::ElideRight, std::max(0, rest.width())));
    painter->restore();
}

} // namespace qs
