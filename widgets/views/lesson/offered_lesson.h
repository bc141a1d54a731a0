// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStyledItemDelegate>

namespace qs {

/// A lesson to choose: its title, below it what it is about and how far it was taken, as wide as the list and as high
/// as they need. What stands behind a colon in the title says it in more words.
class OfferedLesson : public QStyledItemDelegate {
public:
    enum Role { StateRole = Qt::UserRole + 1 }; ///< "15 minutes, 3 of 10 steps done"
    using QStyledItemDelegate::QStyledItemDelegate;
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;

protected:
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
};

} // namespace qs
