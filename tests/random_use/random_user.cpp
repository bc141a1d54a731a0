// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/random_use/random_user.h"

#include <QAction>
#include <QApplication>
#include <QDialog>
#include <QFileDialog>
#include <QMenu>
#include <QTest>
#include <QWheelEvent>

#include <array>

namespace qs::test {

namespace {

/// They end the program or leave it for others.
bool leads(const QAction& action)
{
    const QString text = action.text().remove(QLatin1Char('&'));
    return text.startsWith(QLatin1String("Quit")) || text.startsWith(QLatin1String("Close window"));
}

QString pathOf(const QWidget& widget)
{
    QString text = QString::fromLatin1(widget.metaObject()->className());
    if (!widget.objectName().isEmpty())
        text += QLatin1Char('#') + widget.objectName();
    for (const QWidget* above = widget.parentWidget(); above; above = above->parentWidget())
        if (!above->objectName().isEmpty() && !above->objectName().startsWith(QLatin1String("qt_")))
            return text + QStringLiteral(" in ") + above->objectName();
    return text;
}

} // namespace

RandomUser::RandomUser(QWidget& window, unsigned seed)
    : m_window(&window)
    , m_random(seed)
{
}

void RandomUser::act()
{
    for (QWidget* widget : QApplication::topLevelWidgets())
        if (widget->isVisible()
            && qobject_cast<QFileDialog*>(widget)) // in it whatever there is can be renamed and removed
            return leaveDialogs(true);
    if (!top())
        return;
    const int kind = below(100);
    if (kind < 36)
        click();
    else if (kind < 46)
        drag();
    else if (kind < 54)
        turnWheel();
    else if (kind < 74)
        pressKey();
    else if (kind < 80)
        type();
    else if (kind < 98)
        trigger();
    else
        resize();
}

void RandomUser::leaveDialogs(bool inside)
{
    for (int i = 0; i < (inside ? 1 : 20); ++i) {
        QWidget* open = QApplication::activePopupWidget();
        if (!open)
            open = QApplication::activeModalWidget(); // the innermost one: nobody can reach those behind it
        if (!open)
            for (QWidget* widget : QApplication::topLevelWidgets())
                if (widget->isVisible() && qobject_cast<QDialog*>(widget))
                    open = widget;
        if (!open)
            return;
        if (auto* dialog = qobject_cast<QDialog*>(open))
            dialog->reject();
        else
            open->close();
        if (!inside)
            QCoreApplication::processEvents();
    }
}

QWidget* RandomUser::top()
{
    if (QWidget* popup = QApplication::activePopupWidget())
        return popup;
    if (QWidget* modal = QApplication::activeModalWidget())
        return modal;
    QList<QWidget*> open;
    for (QWidget* widget : QApplication::topLevelWidgets())
        if (widget->isVisible() && widget->windowType() != Qt::ToolTip)
            open << widget;
    for (QWidget* widget : open)
        if (widget->isWindow() && widget->windowModality() != Qt::NonModal)
            return widget;
    return open.isEmpty() || below(4) != 0 ? m_window.data() : open[below(int(open.size()))];
}

QWidget* RandomUser::anyWidget()
{
    QWidget* window = top();
    const QPoint at = somewhereIn(*window);
    if (below(2) == 0)
        if (QWidget* child = window->childAt(at))
            return child;
    QList<QWidget*> seen;
    for (QWidget* child : window->findChildren<QWidget*>())
        if (child->isVisible() && child->width() > 2 && child->height() > 2)
            seen << child;
    return seen.isEmpty() ? window : seen[below(int(seen.size()))];
}

QPoint RandomUser::somewhereIn(const QWidget& widget)
{
    return { below(std::max(1, widget.width())), below(std::max(1, widget.height())) };
}

/// What is pressed may be gone before it is released.
void RandomUser::clickOn(
    const QPointer<QWidget>& widget, Qt::MouseButton button, Qt::KeyboardModifiers modifiers, const QPoint& at)
{
    QTest::mousePress(widget, button, modifiers, at);
    if (widget)
        QTest::mouseRelease(widget, button, modifiers, at);
}

void RandomUser::click()
{
    static constexpr std::array keys { Qt::NoModifier, Qt::NoModifier, Qt::NoModifier, Qt::ShiftModifier,
        Qt::ControlModifier, Qt::AltModifier };
    QPointer<QWidget> widget = anyWidget();
    const Qt::KeyboardModifiers modifiers = keys[size_t(below(int(keys.size())))];
    const QPoint at = somewhereIn(*widget);
    const int kind = below(10);
    if (kind == 0) {
        note(QStringLiteral("double click"), widget);
        clickOn(widget, Qt::LeftButton, modifiers, at);
        if (!widget)
            return;
        QMouseEvent again(QEvent::MouseButtonDblClick, at, widget->mapToGlobal(QPointF(at)), Qt::LeftButton,
            Qt::LeftButton, modifiers);
        QCoreApplication::sendEvent(widget, &again);
        if (widget)
            QTest::mouseRelease(widget, Qt::LeftButton, modifiers, at);
        return;
    }
    if (kind > 1) {
        note(QStringLiteral("click"), widget);
        return clickOn(widget, Qt::LeftButton, modifiers, at);
    }
    note(QStringLiteral("right click"), widget);
    clickOn(widget, Qt::RightButton, modifiers, at);
    if (!widget)
        return;
    QContextMenuEvent menu(QContextMenuEvent::Mouse, at, widget->mapToGlobal(at));
    QCoreApplication::sendEvent(widget, &menu);
}

void RandomUser::drag()
{
    QPointer<QWidget> widget = anyWidget();
    note(QStringLiteral("drag"), widget);
    const Qt::KeyboardModifiers modifiers = below(4) == 0 ? Qt::ShiftModifier : Qt::NoModifier;
    QTest::mousePress(widget, Qt::LeftButton, modifiers, somewhereIn(*widget));
    QPoint at;
    for (int i = 0; i < 4 && widget; ++i) {
        at = somewhereIn(*widget);
        QMouseEvent move(
            QEvent::MouseMove, at, widget->mapToGlobal(QPointF(at)), Qt::NoButton, Qt::LeftButton, modifiers);
        QCoreApplication::sendEvent(widget, &move);
    }
    if (widget)
        QTest::mouseRelease(widget, Qt::LeftButton, modifiers, at);
}

void RandomUser::turnWheel()
{
    QPointer<QWidget> widget = anyWidget();
    note(QStringLiteral("wheel"), widget);
    const QPointF at = somewhereIn(*widget);
    const int turn = 120 * (below(9) - 4);
    const Qt::KeyboardModifiers modifiers = below(3) == 0 ? Qt::ControlModifier : Qt::NoModifier;
    QWheelEvent wheel(at, widget->mapToGlobal(at), {}, below(5) == 0 ? QPoint(turn, 0) : QPoint(0, turn), Qt::NoButton,
        modifiers, Qt::NoScrollPhase, false);
    QCoreApplication::sendEvent(widget, &wheel);
}

void RandomUser::pressKey()
{
    static constexpr std::array keys { Qt::Key_E, Qt::Key_R, Qt::Key_Space, Qt::Key_Left, Qt::Key_Right, Qt::Key_Up,
        Qt::Key_Down, Qt::Key_Tab, Qt::Key_Return, Qt::Key_Escape, Qt::Key_BracketLeft, Qt::Key_BracketRight,
        Qt::Key_Delete, Qt::Key_F1, Qt::Key_F6, Qt::Key_PageUp, Qt::Key_PageDown, Qt::Key_Home, Qt::Key_End,
        Qt::Key_Plus, Qt::Key_Minus, Qt::Key_A, Qt::Key_F, Qt::Key_P, Qt::Key_Z, Qt::Key_Backspace };
    QWidget* window = top();
    QWidget* focus = QApplication::focusWidget();
    QWidget* widget = focus && focus->window() == window ? focus : window;
    const Qt::Key key = keys[size_t(below(int(keys.size())))];
    Qt::KeyboardModifiers modifiers;
    if (below(4) == 0)
        modifiers |= Qt::ShiftModifier;
    if (below(4) == 0)
        modifiers |= Qt::ControlModifier;
    if (below(8) == 0)
        modifiers |= Qt::AltModifier;
    note(QStringLiteral("key ") + QKeySequence(QKeyCombination(modifiers, key)).toString(), widget);
    QTest::keyClick(widget, key, modifiers);
}

QString RandomUser::anyText()
{
    static const QStringList texts { QStringLiteral("0.5"), QStringLiteral("-1e30"), QStringLiteral("nan"),
        QStringLiteral("99,99"), QStringLiteral("/block*"), QStringLiteral("re:(("), QStringLiteral("conv"),
        QStringLiteral("8"), QStringLiteral("0, ::2, -1"), QStringLiteral("größe ✓ 😀"), QString(300, QLatin1Char('x')),
        QStringLiteral("../../x"), QStringLiteral("int4"), QStringLiteral("100000000000000000000") };
    return texts[below(int(texts.size()))];
}

void RandomUser::type()
{
    QWidget* window = top();
    QPointer<QWidget> focus = QApplication::focusWidget();
    if (!focus || focus->window() != window)
        focus = anyWidget();
    const QString text = anyText();
    note(QStringLiteral("type ") + text.left(20), focus);
    for (const QChar& sign : text)
        if (focus) {
            QKeyEvent press(QEvent::KeyPress, 0, Qt::NoModifier, QString(sign));
            QCoreApplication::sendEvent(focus, &press);
        }
    if (focus && below(2) == 0)
        QTest::keyClick(focus.data(), Qt::Key_Return);
}

void RandomUser::trigger()
{
    QList<QAction*> actions;
    for (QAction* action : top()->findChildren<QAction*>())
        if (action->isEnabled() && action->isVisible() && !action->isSeparator() && !action->menu() && !leads(*action))
            actions << action;
    if (actions.isEmpty())
        return;
    QAction* action = actions[below(int(actions.size()))];
    note(QStringLiteral("action ") + action->text());
    action->trigger();
}

void RandomUser::resize()
{
    note(QStringLiteral("resize"));
    m_window->resize(900 + below(1200), 600 + below(700));
}

void RandomUser::note(const QString& what, const QWidget* widget)
{
    m_last = what;
    if (widget)
        m_last += QStringLiteral(" on ") + pathOf(*widget);
}

} // namespace qs::test
