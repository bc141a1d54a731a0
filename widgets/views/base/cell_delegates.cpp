// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/base/cell_delegates.h"

#include "widgets/session/recipe/recipe_view.h"
#include "widgets/views/base/noise_bar.h"
#include "widgets/views/base/table_header.h"
#include "widgets/views/base/text/font_units.h"
#include "widgets/views/base/text/name_delegate.h"

#include <QApplication>
#include <QMouseEvent>
#include <QPainter>
#include <QRegularExpression>

#include <algorithm>
#include <array>

namespace qs {

namespace {

constexpr int kBarHeight = 10; ///< font units
constexpr int kCellMargin = 6;
constexpr int kCheckRoom = 22; ///< font units
constexpr double kStaleBarOpacity = 0.35; ///< of bars that are not of the recipe as it is
constexpr int kShortestBar = 4; ///< a shorter one would be all border

QRect middle(const QRect& area, int height)
{
    return { area.left(), area.center().y() - height / 2 + 1, area.width(), height };
}

void shorten(QStyleOptionViewItem* cell, const QModelIndex& index)
{
    static const QRegularExpression kPath(QStringLiteral("[/_:]|[A-Za-z]\\."));
    const int check
        = cell->features & QStyleOptionViewItem::HasCheckIndicator ? fontUnits(cell->fontMetrics, kCheckRoom) : 0;
    const int room = cell->rect.width() - 2 * kCellMargin - check;
    cell->textElideMode = Qt::ElideRight;
    if (cell->text.contains(kPath) && cell->fontMetrics.horizontalAdvance(cell->text) > room)
        cell->text = elidedName(cell->text, textsAround(index), cell->fontMetrics, room);
}

} // namespace

CellDelegate::CellDelegate(const Session& session, ColumnKind kind, QObject* parent)
    : QStyledItemDelegate(parent)
    , m_session(session)
    , m_kind(kind)
{
}

bool CellDelegate::stale() const { return !isWritten(m_kind) && m_session.numbers().stale(); }

void CellDelegate::showRecipe(RecipeView& recipe, NodeOf nodeOf)
{
    m_recipe = &recipe;
    m_nodeOf = std::move(nodeOf);
}

void CellDelegate::initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const
{
    QStyledItemDelegate::initStyleOption(option, index);
    if (stale())
        for (const auto role : { QPalette::Text, QPalette::HighlightedText })
            option->palette.setColor(role, m_session.theme().muted);
    const auto node = m_recipe ? m_nodeOf(index) : std::nullopt;
    const auto state = node ? m_recipe->state(m_recipe->units().of(*node)) : std::nullopt;
    if (!state)
        return;
    option->features |= QStyleOptionViewItem::HasCheckIndicator;
    option->checkState = state == TriState::All ? Qt::Checked
        : state == TriState::None               ? Qt::Unchecked
                                                : Qt::PartiallyChecked;
    if (state == TriState::None && m_recipe->isOfFile(m_recipe->units().of(*node))) {
        option->checkState = Qt::PartiallyChecked; // on codes, though no recipe says so
        return;
    }
    if (state == TriState::All)
        return;
    option->palette.setColor(QPalette::Text, m_session.theme().warning);
    option->palette.setColor(QPalette::HighlightedText, m_session.theme().warning);
}

bool CellDelegate::editorEvent(
    QEvent* event, QAbstractItemModel* model, const QStyleOptionViewItem& option, const QModelIndex& index)
{
    const auto node = m_recipe && event->type() == QEvent::MouseButtonRelease ? m_nodeOf(index) : std::nullopt;
    if (node && m_recipe->state(m_recipe->units().of(*node))) {
        QStyleOptionViewItem cell = option;
        initStyleOption(&cell, index);
        cell.rect.setLeft(cell.rect.left() + kTextIndent);
        const QStyle* style = option.widget ? option.widget->style() : QApplication::style();
        const QRect check = style->subElementRect(QStyle::SE_ItemViewItemCheckIndicator, &cell, option.widget);
        if (check.contains(static_cast<QMouseEvent*>(event)->pos())) {
            m_recipe->toggle(*node);
            return true;
        }
    }
    return QStyledItemDelegate::editorEvent(event, model, option, index);
}

void CellDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const
{
    QStyleOptionViewItem cell = option;
    initStyleOption(&cell, index);
    cell.state &= ~QStyle::State_HasFocus; // the whole row shows the selection
    const QWidget* widget = option.widget;
    const QStyle* style = widget ? widget->style() : QApplication::style();
    if (isWritten(m_kind)) {
        style->drawPrimitive(QStyle::PE_PanelItemViewItem, &cell, painter, widget); // also of what stays free
        cell.rect.setLeft(cell.rect.left() + kTextIndent);
        shorten(&cell, index);
    }
    const QRect area = cell.rect.adjusted(kCellMargin, 0, -kCellMargin, 0);
    const bool drawn = (m_kind == ColumnKind::Split && index.data(SplitRole).isValid())
        || (m_kind == ColumnKind::Strip && index.data(StripRole).isValid());
    if (drawn)
        cell.text.clear();
    style->drawControl(QStyle::CE_ItemViewItem, &cell, painter, widget);
    painter->save();
    if (stale())
        painter->setOpacity(kStaleBarOpacity);
    if (m_kind == ColumnKind::Bar)
        paintBar(painter, area, index);
    else if (drawn && m_kind == ColumnKind::Split)
        paintSplit(painter, area, index);
    else if (drawn)
        paintStrip(painter, area, index);
    painter->restore();
}

QSize CellDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const
{
    return { QStyledItemDelegate::sizeHint(option, index).width(), tableRow(option.fontMetrics) };
}

void CellDelegate::paintBar(QPainter* painter, QRect area, const QModelIndex& index) const
{
    const QVariant badness = index.data(BadnessRole);
    if (!badness.isValid())
        return;
    const QFontMetrics metrics(painter->font());
    const int room = area.width() - metrics.horizontalAdvance(QStringLiteral("−88.8")) - kCellMargin;
    if (room < 12)
        return;
    const double bad = badness.toDouble();
    QRect bar = middle(area, fontUnits(metrics, kBarHeight));
    bar.setWidth(int(room * bad));
    if (bar.width() < kShortestBar)
        return;
    painter->fillRect(bar, m_session.theme().magnitude(bad));
    painter->setPen(m_session.theme().border);
    painter->drawRect(bar.adjusted(0, 0, -1, -1));
}

void CellDelegate::paintSplit(QPainter* painter, QRect area, const QModelIndex& index) const
{
    const QVariantList shares = index.data(SplitRole).toList();
    NoiseParts parts {};
    for (size_t i = 0; i < parts.size(); ++i)
        parts[i] = shares.value(qsizetype(i)).toDouble();
    paintNoise(*painter, middle(area, fontUnits(QFontMetrics(painter->font()), kBarHeight)), parts, m_session.theme());
}

void CellDelegate::paintStrip(QPainter* painter, QRect area, const QModelIndex& index) const
{
    const QVariantList cells = index.data(StripRole).toList();
    const QRect strip = middle(area, fontUnits(QFontMetrics(painter->font()), kBarHeight + 2));
    const Theme& theme = m_session.theme();
    for (int x = 0; x < strip.width(); ++x) {
        const qsizetype from = x * cells.size() / strip.width();
        const qsizetype to = std::max(from + 1, (x + 1) * cells.size() / strip.width());
        double worst = -1;
        for (qsizetype i = from; i < std::min(to, cells.size()); ++i)
            worst = std::max(worst, cells[i].toDouble());
        painter->fillRect(
            strip.left() + x, strip.top(), 1, strip.height(), worst < 0 ? theme.raised : theme.magnitude(worst));
    }
    painter->setPen(theme.muted); // the dark end of the colours is near a dark ground
    painter->drawRect(strip.adjusted(0, 0, -1, -1));
}

} // namespace qs

#include "moc_cell_delegates.cpp"
