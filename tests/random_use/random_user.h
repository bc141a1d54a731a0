// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPoint>
#include <QPointer>
#include <QString>

#include <random>

class QAction;
class QWidget;

namespace qs::test {

/// Does what people do with mouse and keyboard, without knowing why: the same seed does the same as long as the window
/// answers the same.
class RandomUser {
public:
    RandomUser(QWidget& window, unsigned seed);

    /// One thing: a click, a drag, the wheel, keys, text, an action of the menus, a size of the window.
    void act();
    /// What it was, for people.
    const QString& last() const { return m_last; }
    /// Escapes from menus and dialogs that are open; `inside` the loop of one: from that alone.
    void leaveDialogs(bool inside = false);

private:
    int below(int count) { return int(m_random() % unsigned(count)); }
    QPoint somewhereIn(const QWidget& widget);
    QWidget* top(); ///< menu, dialog or window that has the mouse now
    QWidget* anyWidget();
    void click();
    void clickOn(
        const QPointer<QWidget>& widget, Qt::MouseButton button, Qt::KeyboardModifiers modifiers, const QPoint& at);
    void drag();
    void turnWheel();
    void pressKey();
    void type();
    void trigger();
    void resize();
    void note(const QString& what, const QWidget* widget = nullptr);
    QString anyText();

    QPointer<QWidget> m_window;
    std::mt19937 m_random;
    QString m_last;
};

} // namespace qs::test
