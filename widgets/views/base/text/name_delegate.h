// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/views/base/text/elided_name.h"

#include <QApplication>
#include <QStyledItemDelegate>

#include <algorithm>

namespace qs {

/// What stands in the rows around, which should not look the same.
inline QStringList textsAround(const QModelIndex& index)
{
    constexpr int kAround = 6;
    QStringList texts;
    for (int row = std::max(index.row() - kAround, 0); row <= index.row() + kAround; ++row)
        if (const QModelIndex other = index.siblingAtRow(row); other.isValid() && row != index.row())
            texts << other.data().toString();
    return texts;
}

/// Names keep what tells rows apart, and the words before them: "7 bits: block3/…0/Conv".
class NameDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;

protected:
    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override
    {
        constexpr int kPadding = 9;
        QStyledItemDelegate::initStyleOption(option, index);
        const auto begin = [](const QString& text) {
            const qsizetype colon = text.indexOf(QStringLiteral(": "));
            return text.left(colon < 0 ? 0 : colon + 2);
        };
        const QString words = begin(option->text);
        const QFontMetrics& font = option->fontMetrics;
        const int room = option->rect.width() - kPadding - checkRoom(*option) - font.horizontalAdvance(words);
        if (!option->rect.isValid() || font.horizontalAdvance(option->text.mid(words.size())) <= room)
            return;
        QStringList beside;
        for (const QString& text : textsAround(index))
            beside << text.mid(begin(text).size());
        option->text = words + elidedName(option->text.mid(words.size()), beside, font, room);
    }

private:
    static int checkRoom(const QStyleOptionViewItem& option)
    {
        if (!(option.features & QStyleOptionViewItem::HasCheckIndicator))
            return 0;
        const QStyle* style = option.widget ? option.widget->style() : QApplication::style();
        const QRect text = style->subElementRect(QStyle::SE_ItemViewItemText, &option, option.widget);
        return std::max(0, text.left() - option.rect.left());
    }
};

} // namespace qs
