// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QLabel>

namespace qs {

/// One line of text that takes the room it gets and marks with an ellipsis what does not fit; rich text is cut at
/// the right.
class ElidedLabel : public QLabel {
public:
    explicit ElidedLabel(Qt::TextElideMode mode, QWidget* parent = nullptr);

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void paintRichText(const QRect& room);

    Qt::TextElideMode m_mode;
};

} // namespace qs
