// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QComboBox>

namespace qs {

/// A combo box as wide as its widest choice where there is room, else narrower: what does not fit ends with an
/// ellipsis, the list shows all of it.
class ElidedCombo : public QComboBox {
public:
    explicit ElidedCombo(QWidget* parent = nullptr);
    void showPopup() override;
    QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;
};

} // namespace qs
