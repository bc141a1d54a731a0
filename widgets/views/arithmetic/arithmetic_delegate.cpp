// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/arithmetic/arithmetic_delegate.h"

#include <QPainter>

#include <algorithm>
#include <cmath>
#include <utility>

namespace qs {

namespace {

constexpr double kPaleBar = 0.3, kBar = 0.55; ///< opacity: text stands on it
constexpr int kBarInset = 3; ///< pixels above and below

} // namespace

ArithmeticDelegate::ArithmeticDelegate(
    const Session& session, Roles roles, std::function<bool(const QModelIndex&)> ahead, QObject* parent)
    : QStyledItemDelegate(parent)
    , m_session(session)
    , m_roles(roles)
    , m_ahead(std::move(ahead))
{
}

void ArithmeticDelegate::initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const
{
    QStyledItemDelegate::initStyleOption(option, index);
    option->state &= ~QStyle::State_HasFocus;
    const Theme& theme = m_session.theme();
    const auto colour = [&](const QColor& text) {
        for (const auto role : { QPalette::Text, QPalette::HighlightedText })
            option->palette.setColor(role, text);
    };
    if (m_roles.saturates >= 0 && index.data(m_roles.saturates).toBool())
        colour(theme.warning);
    if (m_roles.heading >= 0 && index.data(m_roles.heading).toBool())
        option->font.setBold(true);
    if (m_ahead(index)) {
        colour(theme.border);
        option->features &= ~QStyleOptionViewItem::HasDecoration;
    } else if (m_session.numbers().stale()) {
        colour(theme.muted);
    }
}

void ArithmeticDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const
{
    const QVariant share = m_roles.share >= 0 ? index.data(m_roles.share) : QVariant();
    if (share.toDouble() != 0 && !m_ahead(index))
        paintBar(painter, option.rect, share.toDouble(), m_session.numbers().stale());
    QStyledItemDelegate::paint(painter, option, index);
}

void ArithmeticDelegate::paintBar(QPainter* painter, const QRect& cell, double share, bool pale) const
{
    const Theme& theme = m_session.theme();
    const double half = cell.width() / 2.0 - 2;
    const double length = half * std::clamp(std::abs(share), 0.0, 1.0);
    const double middle = cell.left() + cell.width() / 2.0;
    painter->save();
    painter->setOpacity(pale ? kPaleBar : kBar);
    painter->fillRect(QRectF(share < 0 ? middle - length : middle, cell.top() + kBarInset, std::max(length, 1.0),
                          cell.height() - 2 * kBarInset),
        share < 0 ? theme.difference(-0.7) : theme.difference(0.7));
    painter->restore();
}

} // namespace qs

#include "moc_arithmetic_delegate.cpp"
