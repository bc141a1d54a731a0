// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/theme/restyling.h"

#include <QApplication>
#include <QElapsedTimer>
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

    void start()
    {
        m_left.clear();
        for (QWidget* widget : QApplication::allWidgets())
            if (widget->testAttribute(Qt::WA_WState_Polished)) // the others are styled when they are first shown
                m_left.emplace_back(widget);
        const auto seen
            = std::partition(m_left.begin(), m_left.end(), [](QWidget* widget) { return !widget->isVisible(); });
        m_hidden = size_t(seen - m_left.begin());
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
    void showAgain()
    {
        for (QWidget* window : m_still)
            if (window)
                window->setUpdatesEnabled(true);
        m_still.clear();
    }

    QTimer m_timer;
    std::vector<QPointer<QWidget>> m_left; ///< from the back
    std::vector<QPointer<QWidget>> m_still; ///< windows that wait to be painted
    size_t m_hidden = 0; ///< how many of those that are left nobody sees
};

} // namespace

void restyleWidgets()
{
    static QPointer<Restyling> restyling;
    if (!restyling)
        restyling = new Restyling(qApp);
    restyling->start();
}

} // namespace qs
