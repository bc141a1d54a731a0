// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QComboBox>

namespace qs {

/// A combo box that may be narrower than its choices: what does not fit ends with an ellipsis, the list shows all of
/// it.
class ElidedCombo : public QComboBox {
public:
    explicit ElidedCombo(QWidget* parent = nullptr);
    void showPopup() override;

protected:
    void paintEvent(QPaintEvent* event) override;
};

} // namespace qs
