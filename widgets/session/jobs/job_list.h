// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/base/work/cancel.h"
#include "core/base/work/progress.h"
#include "widgets/models/tables/job_model.h"

#include <QObject>
#include <QThreadPool>
#include <QTimer>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

namespace qs {

/// What a job's worker function may use; valid while it runs.
struct JobContext {
    CancelToken cancel;
    ProgressFn progress; ///< from any thread
    /// Runs on the GUI thread unless the job was cancelled or replaced meanwhile (partial results).
    std::function<void(std::function<void()>)> post;
};

/// Long work: `process` runs on a worker thread and returns what is then done on the GUI thread (`finalize`), or an
/// Issue. A newer job with the same tag cancels the older one, whose result is dropped. Cancelled and failed jobs
/// change nothing.
struct JobRequest {
    QString tag; ///< "compare", "layout" ...
    QString title; ///< for people: "Compare float.onnx with qdq.onnx"
    std::function<Result<std::function<void()>>(const JobContext&)> process;
    std::function<void(const Issue&)> failed; ///< GUI thread; not called when cancelled or replaced
    std::function<void()> cancelled; ///< GUI thread; the user cancelled (not called when replaced)
    Visibility visibility = Visibility::Shown;
};

/// Runs jobs and shows them in its model.
class JobList : public QObject {
    Q_OBJECT
public:
    explicit JobList(QObject* parent = nullptr);
    ~JobList() override; ///< cancels and waits

    quint64 start(JobRequest request);
    void cancel(quint64 id);
    void cancelTag(const QString& tag);
    void cancelAll();
    bool running(const QString& tag) const { return m_currentByTag.count(tag) != 0; }
    bool idle() const { return m_running.empty(); }
    JobModel& model() { return m_model; }

signals:
    void idleChanged(bool idle);
    void started(quint64 id);
    void progressed(quint64 id);
    void finished(quint64 id);

private:
    struct Running;
    void refresh();
    void runNext();
    void deliver(std::function<void()> work);
    Q_INVOKABLE void takeMail();
    void finish(quint64 id, Result<std::function<void()>> result);
    bool current(quint64 id) const;

    JobModel m_model;
    QThreadPool m_pool;
    QTimer m_timer;
    quint64 m_next = 1;
    std::map<quint64, std::shared_ptr<Running>> m_running;
    std::map<QString, quint64> m_currentByTag;
    std::mutex m_mutex;
    std::deque<std::shared_ptr<Running>> m_waiting; ///< jobs for the workers, behind the mutex
    std::deque<std::function<void()>> m_mail; ///< work for the GUI thread, behind the mutex
};

} // namespace qs
