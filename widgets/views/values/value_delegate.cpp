// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/values/value_delegate.h"

#include "widgets/models/values/value_table_model.h"

#include <QApplication>
#include <QPainter>

namespace qs {

namespace {

constexpr double kStaleOpacity = 0.35; ///< of strips that are not of the recipe as it is

} // namespace

ValueDelegate::ValueDelegate(const Session& session, QObject* parent)
    : QStyledItemDelegate(parent)
    , m_session(session)
{
}

void ValueDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const
{
    QStyleOptionViewItem cell = option;
    initStyleOption(&cell, index);
    const bool stale = m_session.numbers().stale();
    if (stale)
        for (const auto role : { QPalette::Text, QPalette::HighlightedText })
            cell.palette.setColor(role, m_session.theme().muted);
    const QWidget* widget = option.widget;
    const QStyle* style = widget ? widget->style() : QApplication::style();
    style->drawPrimitive(QStyle::PE_PanelItemViewItem, &cell, painter, widget);
    const QVariant strength = index.data(ValueTableModel::StrengthRole);
    if (strength.isValid()) {
        painter->save();
        painter->setOpacity(stale ? kStaleOpacity : 1);
        painter->fillRect(QRect(option.rect.left(), option.rect.top() + 1, kStrip, option.rect.height() - 2),
            m_session.theme().magnitude(strength.toDouble()));
        painter->restore();
    }
    painter->save();
    painter->setFont(cell.font);
    painter->setPen(
        cell.palette.color(cell.state & QStyle::State_Selected ? QPalette::HighlightedText : QPalette::Text));
    painter->drawText(option.rect.adjusted(kStrip, 0, -kMargin, 0), Qt::AlignRight | Qt::AlignVCenter, cell.text);
    painter->restore();
    if (cell.state & QStyle::State_HasFocus) {
        painter->setPen(m_session.theme().accent);
        painter->drawRect(option.rect.adjusted(0, 0, -1, -1));
    }
}

} // namespace qs

#include "moc_value_delegate.cpp"
