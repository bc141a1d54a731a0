// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/models/column_model.h"
#include "widgets/session/session.h"

#include <QStyledItemDelegate>

namespace qs {

/// Draws the cells that are more than text: a bar in the colour scale beside its number, the noise split, the channel
/// strip. Text cells get the default painting without the dotted focus frame. Long names keep their end.
class CellDelegate : public QStyledItemDelegate {
    Q_OBJECT
public:
    CellDelegate(const Session& session, ColumnKind kind, QObject* parent);
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;

private:
    void paintBar(QPainter* painter, QRect area, const QModelIndex& index) const;
    void paintSplit(QPainter* painter, QRect area, const QModelIndex& index) const;
    void paintStrip(QPainter* painter, QRect area, const QModelIndex& index) const;

    const Session& m_session;
    ColumnKind m_kind;
};

} // namespace qs
