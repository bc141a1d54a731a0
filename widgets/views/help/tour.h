// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session/session.h"

#include <QFrame>
#include <QPointer>

#include <functional>
#include <vector>

class QLabel;
class QPushButton;

namespace qs {

/// One stop of the tour.
struct TourStep {
    QString panel; ///< object name of the panel, or of another widget of the window
    QString title, text;
};
std::vector<TourStep> tourSteps();

/// The box of text beside a widget. Its keys: Return and right go on, left goes back, Esc ends.
class CallOut : public QFrame {
    Q_OBJECT
public:
    explicit CallOut(QWidget* window);
    void show(const TourStep& step, int number, int count);
    QPushButton *next, *back, *skip;

signals:
    void nextAsked();
    void backAsked();
    void endAsked();

private:
    bool event(QEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    QLabel *m_number, *m_title, *m_text;
};

/// First steps: call-outs that point at the window's own widgets, which stay usable all the while.
class Tour : public QObject {
    Q_OBJECT
public:
    /// Brings a panel to the front and returns it; null for one that there is not.
    using Reveal = std::function<QWidget*(const QString& name)>;
    Tour(QWidget& window, Session& session, Reveal reveal);

    void start();
    void end(); ///< not offered again
    bool running() const { return m_step >= 0; }
    int step() const { return m_step; }
    CallOut* callOut() const { return m_callOut; }
    QWidget* target() const { return m_target; } ///< what is pointed at
    bool pointing() const { return m_pointer && m_pointer->isVisible(); } ///< the target is in sight
    /// From now on it starts by itself when this model is open for the first time, and was never ended before.
    void offerFor(const std::string& floatPath);
    static bool seen();

private:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void go(int step);
    void place();
    void watch(); ///< what may cover the call-out, or its target
    void takeFocus(); ///< where nothing else of the window has it

    QWidget& m_window;
    Session& m_session;
    Reveal m_reveal;
    std::vector<TourStep> m_steps;
    int m_step = -1;
    QPointer<QWidget> m_target;
    QPointer<CallOut> m_callOut;
    QPointer<QWidget> m_pointer; ///< frame around the target, and the arrow to it
};

} // namespace qs
