// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/base/table_header.h"

#include <QStyleOptionHeader>

namespace qs {

namespace {

const QString kDown = QStringLiteral(" ▾"), kUp = QStringLiteral(" ▴");
constexpr int kPadding = 8; ///< that the style keeps free
constexpr int kRounding = 2; ///< of the widths of parts against that of the whole

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
    setMinimumSectionSize(36);
}

int TableHeader::titleWidth(const QString& title) const
{
    return fontMetrics().horizontalAdvance(title + kDown) + kPadding;
}

void TableHeader::initStyleOptionForIndex(QStyleOptionHeader* option, int logicalIndex) const
{
    QHeaderView::initStyleOptionForIndex(option, logicalIndex);
    const QString order = logicalIndex != sortIndicatorSection() ? QString()
        : sortIndicatorOrder() == Qt::DescendingOrder            ? kDown
                                                                 : kUp;
    const int room = sectionSize(logicalIndex) - kPadding + kRounding - fontMetrics().horizontalAdvance(order);
    option->text = fontMetrics().elidedText(option->text, Qt::ElideRight, room); // the style cuts either end
    if (option->textAlignment & Qt::AlignLeft)
        option->text.prepend(QStringLiteral("  ")); // about kTextIndent
    option->text += order;
}

} // namespace qs
