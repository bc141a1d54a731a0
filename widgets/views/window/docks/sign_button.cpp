// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/window/docks/sign_button.h"

#include <QAction>
#include <QPainterPath>
#include <QStyleOptionToolButton>
#include <QStylePainter>

namespace qs {

namespace {

constexpr int kButtonSide = 20; ///< pixels of the button
constexpr double kHalf = 4; ///< pixels: of the sign, around the middle
constexpr double kLine = 1.3;

QPainterPath signPath(SignButton::Sign sign)
{
    QPainterPath path;
    switch (sign) {
    case SignButton::Sign::Pin: // head, neck, plate, needle
        path.addRect(-2, -5, 4, 5);
        path.moveTo(-4, 0.5);
        path.lineTo(4, 0.5);
        path.moveTo(0, 1);
        path.lineTo(0, 5.5);
        break;
    case SignButton::Sign::Float: // a window before another
        path.addRect(-1.5, -kHalf, 5.5, 5.5);
        path.moveTo(-1.5, -1.5);
        path.lineTo(-kHalf, -1.5);
        path.lineTo(-kHalf, kHalf);
        path.lineTo(1.5, kHalf);
        path.lineTo(1.5, 1.5);
        break;
    case SignButton::Sign::Dock: // a part of a window
        path.addRect(-kHalf, -kHalf, 2 * kHalf, 2 * kHalf);
        path.moveTo(0, -kHalf);
        path.lineTo(0, kHalf);
        break;
    case SignButton::Sign::Close:
        path.moveTo(-3.5, -3.5);
        path.lineTo(3.5, 3.5);
        path.moveTo(3.5, -3.5);
        path.lineTo(-3.5, 3.5);
        break;
    }
    return path;
}

} // namespace

SignButton::SignButton(Sign sign, QAction* action, QWidget* parent)
    : QToolButton(parent)
    , m_sign(sign)
{
    setDefaultAction(action);
    setAutoRaise(true);
    setFixedSize(kButtonSide, kButtonSide);
    setFocusPolicy(Qt::TabFocus);
    const auto name = [this] { setAccessibleName(defaultAction()->toolTip()); };
    connect(action, &QAction::changed, this, name);
    name();
}

void SignButton::setSign(Sign sign)
{
    m_sign = sign;
    update();
}

void SignButton::paintEvent(QPaintEvent*)
{
    QStylePainter painter(this);
    QStyleOptionToolButton option;
    initStyleOption(&option);
    option.text.clear();
    option.icon = {};
    painter.drawComplexControl(QStyle::CC_ToolButton, option);
    const bool strong = underMouse() || isChecked();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.translate(width() / 2.0, height() / 2.0);
    const QColor colour = palette().color(strong ? QPalette::Text : QPalette::Shadow);
    painter.setPen(QPen(colour, kLine, Qt::SolidLine, Qt::RoundCap, Qt::MiterJoin));
    if (m_sign == Sign::Pin && isChecked())
        painter.setBrush(colour);
    painter.drawPath(signPath(m_sign));
}

} // namespace qs

#include "moc_sign_button.cpp"
