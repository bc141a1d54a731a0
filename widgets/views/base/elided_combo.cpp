// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/base/elided_combo.h"

#include <QAbstractItemView>
#include <QStyle>
#include <QStylePainter>

#include <algorithm>

namespace qs {

namespace {

constexpr int kFewestChars = 5;
constexpr double kRing = 2, kRingCorner = 3; ///< around a combo box that has the focus

} // namespace

ElidedCombo::ElidedCombo(QWidget* parent)
    : QComboBox(parent)
{
    setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    setMinimumContentsLength(kFewestChars);
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
    if (hasFocus()) {
        constexpr double kInside = kRing / 2;
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(QPen(palette().color(QPalette::Link), kRing));
        painter.drawRoundedRect(
            QRectF(rect()).adjusted(kInside, kInside, -kInside, -kInside), kRingCorner, kRingCorner);
    }
}

} // namespace qs
