// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/base/text/elided_button.h"

#include "widgets/views/base/text/font_units.h"

#include <QStyleOptionButton>
#include <QStylePainter>

#include <algorithm>

namespace qs {

namespace {

constexpr int kLeastButton = 60; ///< font units

} // namespace

ElidedButton::ElidedButton(Qt::TextElideMode mode, QWidget* parent)
    : QPushButton(parent)
    , m_mode(mode)
{
    setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
}

QSize ElidedButton::sizeHint() const
{
    QSize whole = QPushButton::sizeHint();
    if (m_most > 0)
        whole.setWidth(std::min(whole.width(), fontUnits(fontMetrics(), m_most)));
    return whole;
}

QSize ElidedButton::minimumSizeHint() const
{
    const QSize whole = sizeHint();
    return { std::min(whole.width(), fontUnits(fontMetrics(), kLeastButton)), whole.height() };
}

void ElidedButton::paintEvent(QPaintEvent*)
{
    QStyleOptionButton option;
    initStyleOption(&option);
    const int around = QPushButton::sizeHint().width() - fontMetrics().size(Qt::TextShowMnemonic, text()).width();
    option.text = fontMetrics().elidedText(text(), m_mode, std::max(0, width() - around), Qt::TextShowMnemonic);
    QStylePainter painter(this);
    painter.drawControl(QStyle::CE_PushButton, option);
}

} // namespace qs
