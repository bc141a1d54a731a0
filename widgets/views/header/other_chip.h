// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session/session.h"

#include <QFrame>

class QToolButton;

namespace qs {

/// Says that a second quantized model (B) is beside the first, and takes it away with one click; hidden without one.
class OtherChip : public QFrame {
    Q_OBJECT
public:
    explicit OtherChip(Session& session, QWidget* parent = nullptr);
    QToolButton* name() const { return m_name; } ///< leads to the parameter difference
    QToolButton* swap() const { return m_swap; }
    QToolButton* off() const { return m_off; }
    static constexpr int kNameWidth = 130; ///< font units: the strip holds much else
    void setNameWidth(int pixels); ///< cut to that

signals:
    void asked(); ///< where B is seen

private:
    void refresh();

    Session& m_session;
    QToolButton *m_name, *m_swap, *m_off;
    QString m_text;
    int m_nameWidth = 0; ///< pixels; 0 = usual
};

} // namespace qs
