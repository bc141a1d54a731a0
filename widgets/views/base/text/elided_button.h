// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPushButton>

namespace qs {

/// A button whose text may be cut: as wide as its text where there is room, and marked with an ellipsis where there is
/// not. The whole text belongs into its tool tip.
class ElidedButton : public QPushButton {
public:
    explicit ElidedButton(Qt::TextElideMode mode, QWidget* parent = nullptr);
    void setMostWidth(int units) { m_most = units; } ///< in font units; 0 = none
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    Qt::TextElideMode m_mode;
    int m_most = 0;
};

} // namespace qs
