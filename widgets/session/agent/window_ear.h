// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session/session.h"

#include <mutex>
#include <optional>
#include <string>

namespace qs {

/// Remembers what last went wrong in a session, and how far it is, for who started something and waits for its end.
/// Of the GUI thread where nothing else is said.
class WindowEar : public QObject {
    Q_OBJECT
public:
    explicit WindowEar(Session& session, QObject* parent = nullptr);
    void forget() { m_issue.reset(); }
    const std::optional<Issue>& issue() const { return m_issue; }

    /// From any thread: how far the job is that moved last; nothing where none runs.
    void tellProgress(const ProgressFn& told) const;

signals:
    void somethingEnded(); ///< a comparison, a job

private:
    void hearProgress(const JobRow* row);

    struct Progress {
        std::string phase;
        size_t done = 0, total = 0;
    };
    mutable std::mutex m_mutex;
    Progress m_progress; ///< behind the mutex
    std::optional<Issue> m_issue;
};

} // namespace qs
