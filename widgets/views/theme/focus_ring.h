// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPainter>
#include <QWidget>

namespace qs {

/// Around a field that has the focus, where the style sheet cannot draw it without drawing all of the field.
inline void paintFocusRing(QPainter& painter, const QWidget& field)
{
    constexpr double kRing = 2, kCorner = 3, kInside = kRing / 2;
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(field.palette().color(QPalette::Link), kRing));
    painter.setBrush(Qt::NoBrush);
    painter.drawRoundedRect(QRectF(field.rect()).adjusted(kInside, kInside, -kInside, -kInside), kCorner, kCorner);
}

/// A field, such as a spin box, that shows that it has the focus.
template <class Field> class Ringed : public Field {
public:
    using Field::Field;

protected:
    void paintEvent(QPaintEvent* event) override
    {
        Field::paintEvent(event);
        if (!this->hasFocus())
            return;
        QPainter painter(this);
        paintFocusRing(painter, *this);
    }
};

} // namespace qs
