// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/theme/restyling.h"

#include <QApplication>
#include <QElapsedTimer>
#include <QEvent>
#include <QPointer>
#include <QStyle>
#include <QTimer>
#include <QWidget>

#include <algorithm>
#include <vector>

namespace qs {

namespace {

constexpr qint64 kSliceMs = 6; ///< of work between two looks at other events

class Restyling : public QObject {
public:
    explicit Restyling(QObject* parent)
        : QObject(parent)
    {
        m_timer.setInterval(0);
        connect(&m_timer, &QTimer::timeout, this, &Restyling::goOn);
    }
    ~Restyling() override { showAgain(); }
    bool active() const { return m_timer.isActive(); }

    void start()
    {
        m_left.clear();
        for (QWidget* widget : QApplication::allWidgets())
            if (widget->testAttribute(Qt::WA_WState_Polished)) // the others are styled when they are first shown
                m_left.emplace_back(widget);
        sortHidden();
        for (QWidget* window : QApplication::topLevelWidgets()) {
            if (!window->isVisible() || !window->updatesEnabled())
                continue;
            window->setUpdatesEnabled(false);
            m_still.emplace_back(window);
        }
        m_timer.start();
    }

private:
    void goOn()
    {
        QElapsedTimer clock;
        clock.start();
        if (m_still.empty())
            sortHidden(); // a panel may have come to the front
        while (!m_left.empty() && clock.elapsed() < kSliceMs) {
            if (QWidget* widget = m_left.back()) {
                widget->style()->polish(widget);
                widget->update(); // one that was hidden may be seen by now
            }
            m_left.pop_back();
            if (m_left.size() == m_hidden)
                break; // painting is next
        }
        if (m_left.size() <= m_hidden)
            showAgain();
        if (m_left.empty())
            m_timer.stop();
    }
    /// Those that are seen are at the back.
    void sortHidden()
    {
        const auto seen = std::partition(
            m_left.begin(), m_left.end(), [](QWidget* widget) { return !widget || !widget->isVisible(); });
        m_hidden = size_t(seen - m_left.begin());
    }
    void showAgain()
    {
        for (QWidget* window : m_still) {
            if (!window)
                continue;
            window->setUpdatesEnabled(true);
            // Qt asks once for all that is dirty, and has forgotten it if it was asked while updates were off.
            QCoreApplication::postEvent(window, new QEvent(QEvent::UpdateRequest), Qt::LowEventPriority);
        }
        m_still.clear();
    }

    QTimer m_timer;
    std::vector<QPointer<QWidget>> m_left; ///< from the back
    std::vector<QPointer<QWidget>> m_still; ///< windows that wait to be painted
    size_t m_hidden = 0; ///< how many of those that are left nobody sees
};

QPointer<Restyling>& theRestyling()
{
    static QPointer<Restyling> one;
    return one;
}

} // namespace

void restyleWidgets()
{
    if (!theRestyling())
        theRestyling() = new Restyling(qApp);
    theRestyling()->start();
}

bool restyling() { return theRestyling() && theRestyling()->active(); }

void setStyled(QWidget& widget, const char* property, bool on)
{
    if (widget.property(property).toBool() == on)
        return;
    widget.setProperty(property, on);
    widget.style()->polish(&widget); // unpolishing would bring back the palette of a theme before this one
    widget.update();
}

} // namespace qs
