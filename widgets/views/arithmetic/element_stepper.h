// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QTimer>

namespace qs {

/// Goes through the terms of an element and then through the steps behind them, one at a time or by itself.
class ElementStepper : public QObject {
    Q_OBJECT
public:
    explicit ElementStepper(QObject* parent = nullptr);

    void setLength(int terms, int steps); ///< goes back to the whole
    int terms() const { return m_terms; }
    int length() const { return m_terms + m_steps; }
    /// The last term or step that was made; -1: none yet. Nothing is left out where it is not stepped through.
    int position() const { return m_position; }
    bool stepping() const { return m_stepping; }
    bool playing() const { return m_timer.isActive(); }
    bool isTerm(int position) const { return position < m_terms; }

public slots:
    void toStart(); ///< before the first term
    void back();
    void forward();
    void showAll(); ///< no stepping any more
    void play(bool on);
    void goTo(int position);

signals:
    void changed();

private:
    void advance();

    QTimer m_timer;
    int m_terms = 0, m_steps = 0, m_position = -1;
    bool m_stepping = false;
};

} // namespace qs
