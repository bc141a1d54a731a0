// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/base/text/elided_check.h"

#include "widgets/views/base/text/font_units.h"

#include <QStyleOptionButton>
#include <QStylePainter>

#include <algorithm>

namespace qs {

namespace {

constexpr int kLeastCheck = 68, kMostCheck = 300; ///< font units

} // namespace

ElidedCheck::ElidedCheck(QWidget* parent)
    : QCheckBox(parent)
{
    setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
}

void ElidedCheck::setWords(const QString& words, const QString& name)
{
    m_words = words;
    m_name = name;
    setText(words.arg(name));
}

QSize ElidedCheck::sizeHint() const
{
    const QSize whole = QCheckBox::sizeHint();
    const int least = fontUnits(fontMetrics(), kLeastCheck), most = fontUnits(fontMetrics(), kMostCheck);
    return { std::clamp(whole.width(), least, most), whole.height() };
}

QSize ElidedCheck::minimumSizeHint() const
{
    return { fontUnits(fontMetrics(), kLeastCheck), sizeHint().height() }; // whatever the name
}

void ElidedCheck::paintEvent(QPaintEvent*)
{
    QStyleOptionButton option;
    initStyleOption(&option);
    const int around = QCheckBox::sizeHint().width() - fontMetrics().horizontalAdvance(m_name);
    option.text = m_words.arg(fontMetrics().elidedText(m_name, Qt::ElideLeft, std::max(0, width() - around)));
    QStylePainter painter(this);
    painter.drawControl(QStyle::CE_CheckBox, option);
}

} // namespace qs
