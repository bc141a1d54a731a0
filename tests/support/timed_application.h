// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QApplication>
#include <QElapsedTimer>
#include <QMetaEnum>
#include <QThread>

#include <algorithm>
#include <ctime>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace qs::test {

/// Processor time of this thread.
inline double threadMs()
{
    timespec now {};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return double(now.tv_sec) * 1e3 + double(now.tv_nsec) * 1e-6;
}

/// What one stretch of handling took: by the clock, and of processor time, which other processes do not lengthen.
struct Span {
    double wallMs = 0, cpuMs = 0;
    void keepLonger(const Span& other)
    {
        wallMs = std::max(wallMs, other.wallMs);
        cpuMs = std::max(cpuMs, other.cpuMs);
    }
};

class Stopped {
public:
    Stopped() { m_clock.start(); }
    Span span() const { return { double(m_clock.nsecsElapsed()) * 1e-6, threadMs() - m_cpu }; }

private:
    QElapsedTimer m_clock;
    double m_cpu = threadMs();
};

/// Times events, each by itself: those that a menu or a question handles in a loop of its own belong to no event around
/// it.
class TimedApplication : public QApplication {
public:
    using QApplication::QApplication;
    bool notify(QObject* receiver, QEvent* event) override
    {
        const bool here = QThread::currentThread() == thread();
        if (!m_timing || !here || thread()->loopLevel() <= m_level)
            return QApplication::notify(receiver, event);
        const QEvent::Type type = event->type();
        const std::string name = receiver->metaObject()->className();
        bool handled = false;
        time([&] { handled = QApplication::notify(receiver, event); },
            [&] { return name + " " + QMetaEnum::fromType<QEvent::Type>().valueToKey(type); });
        return handled;
    }
    /// A call by the script, as a handler of a click would be.
    void call(const std::function<void()>& work)
    {
        time(work, [] { return std::string("the action itself"); });
    }
    void begin() { m_timing = true; }
    void beginAction() { m_action = {}, m_longestOfAction.clear(); }
    Span action() const { return m_action; }
    const std::string& longestOfAction() const { return m_longestOfAction; } ///< by processor time
    const std::vector<Span>& events() const { return m_events; }
    const std::map<std::string, Span>& longest() const { return m_longest; }

private:
    template <class Name> void time(const std::function<void()>& work, const Name& name)
    {
        const int level = std::exchange(m_level, thread()->loopLevel());
        const Span before = std::exchange(m_inner, {});
        const Stopped watch;
        work();
        Span all = watch.span();
        note({ all.wallMs - m_inner.wallMs, all.cpuMs - m_inner.cpuMs }, name());
        m_inner = { before.wallMs + all.wallMs, before.cpuMs + all.cpuMs };
        m_level = level;
    }
    void note(const Span& span, const std::string& what)
    {
        m_events.push_back(span);
        if (span.cpuMs > m_action.cpuMs)
            m_longestOfAction = what;
        m_action.keepLonger(span);
        m_longest[what].keepLonger(span);
    }
    bool m_timing = false;
    int m_level = -1; ///< of the loop whose event is handled now
    Span m_inner; ///< of loops inside of what is handled now
    Span m_action;
    std::string m_longestOfAction;
    std::vector<Span> m_events;
    std::map<std::string, Span> m_longest;
};

} // namespace qs::test
