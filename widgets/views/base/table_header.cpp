// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/base/table_header.h"

#include <QStyleOptionHeader>

namespace qs {

namespace {

const QString kDown = QStringLiteral(" ▾"), kUp = QStringLiteral(" ▴");
constexpr int kPadding = 8; ///< that the style keeps free

} // namespace

TableHeader::TableHeader(QWidget* parent)
    : QHeaderView(Qt::Horizontal, parent)
{
    setSectionsMovable(true);
    setSectionsClickable(true);
    setHighlightSections(false);
    setSortIndicator(-1, Qt::AscendingOrder);
    setSortIndicatorShown(false); // the style's arrow lies above the text, where rows this low cut it off
    setContextMenuPolicy(Qt::CustomContextMenu);
    setMinimumSectionSize(40);
}

int TableHeader::titleWidth(const QString& title) const
{
    return fontMetrics().horizontalAdvance(title + kDown) + kPadding;
}

void TableHeader::initStyleOptionForIndex(QStyleOptionHeader* option, int logicalIndex) const
{
    QHeaderView::initStyleOptionForIndex(option, logicalIndex);
    if (option->textAlignment & Qt::AlignLeft)
        option->text.prepend(QStringLiteral("  ")); // about kTextIndent
    if (logicalIndex == sortIndicatorSection())
        option->text += sortIndicatorOrder() == Qt::DescendingOrder ? kDown : kUp;
}

} // namespace qs
