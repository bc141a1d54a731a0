// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session/session.h"

#include <QStyledItemDelegate>

namespace qs {

/// A number with a strip at its left end in the colour of its magnitude. Numbers that the recipe has moved on from are
/// dimmed.
class ValueDelegate : public QStyledItemDelegate {
    Q_OBJECT
public:
    ValueDelegate(const Session& session, QObject* parent);
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;

    static constexpr int kStrip = 5; ///< pixels
    static constexpr int kMargin = 9; ///< right of the number

private:
    const Session& m_session;
};

} // namespace qs
