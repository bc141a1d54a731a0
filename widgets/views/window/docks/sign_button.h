// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QToolButton>

namespace qs {

/// A small button with a drawn sign, in the colours of the theme. Takes name, tool tip and state from an action.
class SignButton : public QToolButton {
    Q_OBJECT
public:
    enum class Sign { Pin, Float, Dock, Close };
    SignButton(Sign sign, QAction* action, QWidget* parent);
    void setSign(Sign sign);
    Sign sign() const { return m_sign; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    Sign m_sign;
};

} // namespace qs
