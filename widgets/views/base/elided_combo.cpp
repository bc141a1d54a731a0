// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/base/elided_combo.h"

#include "widgets/views/theme/focus_ring.h"

#include <QAbstractItemView>
#include <QStyle>
#include <QStylePainter>

#include <algorithm>

namespace qs {

namespace {

constexpr int kFewestChars = 5;

} // namespace

ElidedCombo::ElidedCombo(QWidget* parent)
    : QComboBox(parent)
{
    setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    setMinimumContentsLength(kFewestChars);
    for (const auto change : { &QAbstractItemModel::rowsInserted, &QAbstractItemModel::rowsRemoved })
        connect(model(), change, this, [this] { updateGeometry(); });
}

/// The base class takes the least for what is wished for.
QSize ElidedCombo::sizeHint() const
{
    int widest = 0;
    for (int i = 0; i < count(); ++i)
        widest = std::max(widest, fontMetrics().horizontalAdvance(itemText(i)));
    const int least = minimumContentsLength() * fontMetrics().horizontalAdvance(u'X');
    return QComboBox::sizeHint() + QSize(std::max(0, widest - least), 0);
}

void ElidedCombo::showPopup()
{
    const int frame = 2 * style()->pixelMetric(QStyle::PM_DefaultFrameWidth, nullptr, this);
    const int bar = count() > maxVisibleItems() ? style()->pixelMetric(QStyle::PM_ScrollBarExtent, nullptr, this) : 0;
    view()->setMinimumWidth(std::max(width() - frame, view()->sizeHintForColumn(0) + frame + bar));
    QComboBox::showPopup();
}

void ElidedCombo::paintEvent(QPaintEvent*)
{
    QStyleOptionComboBox option;
    initStyleOption(&option);
    if (currentIndex() < 0) {
        option.palette.setBrush(QPalette::ButtonText, palette().placeholderText());
        option.currentText = placeholderText();
    }
    const QRect room = style()->subControlRect(QStyle::CC_ComboBox, &option, QStyle::SC_ComboBoxEditField, this);
    option.currentText = fontMetrics().elidedText(option.currentText, Qt::ElideRight, room.width());
    QStylePainter painter(this);
    painter.setPen(palette().color(QPalette::Text));
    painter.drawComplexControl(QStyle::CC_ComboBox, option);
    painter.drawControl(QStyle::CE_ComboBoxLabel, option);
    if (hasFocus())
        paintFocusRing(painter, *this);
}

} // namespace qs
