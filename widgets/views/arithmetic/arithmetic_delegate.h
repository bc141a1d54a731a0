// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session/session.h"

#include <QStyledItemDelegate>

#include <functional>

namespace qs {

/// A number with a bar from the middle of its cell, to the right where it is positive. What was not reached yet while
/// stepping is pale; what saturates has the colour of a warning.
class ArithmeticDelegate : public QStyledItemDelegate {
    Q_OBJECT
public:
    struct Roles {
        int share = -1, heading = -1, saturates = -1;
    };
    /// `ahead`: the row was not reached yet.
    ArithmeticDelegate(
        const Session& session, Roles roles, std::function<bool(const QModelIndex&)> ahead, QObject* parent);
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;

protected:
    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override;

private:
    void paintBar(QPainter* painter, const QRect& cell, double share, bool pale) const;

    const Session& m_session;
    Roles m_roles;
    std::function<bool(const QModelIndex&)> m_ahead;
};

} // namespace qs
