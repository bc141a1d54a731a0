// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/base/work/cancel.h"

#include <QObject>

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace qs {

/// Lets other threads ask the GUI thread, which never waits for them.
class GuiCalls : public QObject {
    Q_OBJECT
public:
    using QObject::QObject;

    /// From another thread. The question is asked on the GUI thread, and again at each retry() until it has an answer;
    /// it owns all that it uses, since who asked may have given up meanwhile. Issue: cancelled, or closed.
    /// `meanwhile`: done on the asking thread now and then.
    template <class T>
    Result<T> ask(const CancelToken& cancel, std::function<std::optional<Result<T>>()> question,
        const std::function<void()>& meanwhile = {})
    {
        auto answer = std::make_shared<std::optional<Result<T>>>();
        const auto answered = [answer, question = std::move(question)] {
            *answer = question();
            return answer->has_value();
        };
        return wait(cancel, answered, meanwhile) ? std::move(**answer) : Result<T>(cancelled());
    }
    /// From any thread: done on the GUI thread, unless it was closed.
    void post(std::function<void()> work);

    void retry(); ///< something changed that a question may have waited for
    void close(); ///< from now on nobody gets an answer, and nothing is done

private:
    struct Call {
        std::function<bool()> answered;
        bool done = false, dropped = false; ///< behind the mutex
    };
    bool wait(const CancelToken& cancel, std::function<bool()> answered, const std::function<void()>& meanwhile);
    Q_INVOKABLE void takeMail();
    void askPending();

    std::mutex m_mutex; ///< of what follows, but for m_pending
    std::condition_variable m_answered;
    std::deque<std::function<void()>> m_mail;
    bool m_closed = false;
    std::vector<std::shared_ptr<Call>> m_pending; ///< of the GUI thread
};

} // namespace qs
