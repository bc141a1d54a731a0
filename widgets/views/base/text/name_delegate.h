// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/views/base/text/elided_name.h"

#include <QStyledItemDelegate>

namespace qs {

/// Names keep what tells rows apart, and the words before them: "7 bits: block3/…0/Conv".
class NameDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;

protected:
    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override
    {
        constexpr int kPadding = 9;
        QStyledItemDelegate::initStyleOption(option, index);
        const qsizetype colon = option->text.indexOf(QStringLiteral(": "));
        const QString words = option->text.left(colon < 0 ? 0 : colon + 2);
        const QFontMetrics& font = option->fontMetrics;
        const int room = option->rect.width() - kPadding - font.horizontalAdvance(words);
        if (option->rect.isValid() && option->text.contains(u'/'))
            option->text = words + elidedName(option->text.mid(words.size()), font, room);
    }
};

} // namespace qs
