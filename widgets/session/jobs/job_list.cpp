// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/session/jobs/job_list.h"

#include "core/base/thrown_issue.h"
#include "widgets/models/base/formatting.h"
#include "widgets/models/words/error_text.h"

#include <QElapsedTimer>
#include <QMetaObject>

#include <exception>
#include <mutex>

namespace qs {

namespace {

constexpr int kRefreshMs = 100;
constexpr int kThreads = 4; ///< jobs at once; each may use more threads of its own

} // namespace

/// Shared by the GUI thread and the worker; what the worker writes is behind the mutex.
struct JobList::Running {
    JobRow row;
    JobRequest request;
    CancelToken cancel;
    QElapsedTimer clock;
    bool byUser = false; ///< cancelled by the user, not replaced
    std::mutex mutex;
    std::string phase;
    size_t done = 0, total = 0;
};

JobList::JobList(QObject* parent)
    : QObject(parent)
{
    m_pool.setMaxThreadCount(kThreads);
    m_timer.setInterval(kRefreshMs);
    connect(&m_timer, &QTimer::timeout, this, &JobList::refresh);
}

JobList::~JobList()
{
    for (const auto& [id, job] : m_running)
        job->cancel.cancel();
    m_pool.waitForDone();
}

quint64 JobList::start(JobRequest request)
{
    const auto older = m_currentByTag.find(request.tag);
    if (older != m_currentByTag.end())
        m_running[older->second]->cancel.cancel();
    const quint64 id = m_next++;
    auto job = std::make_shared<Running>();
    job->request = std::move(request);
    job->row.id = id;
    job->row.title = job->request.title;
    job->row.begin = QDateTime::currentDateTime();
    job->clock.start();
    const bool wasIdle = idle();
    m_running[id] = job;
    m_currentByTag[job->request.tag] = id;
    if (job->request.visibility == Visibility::Shown)
        m_model.add(job->row);
    m_timer.start();

    {
        const std::lock_guard lock(m_mutex);
        m_waiting.push_back(std::move(job));
    }
    m_pool.start([this] { runNext(); }); // the destructor waits for this, so `this` outlives it
    emit started(id);
    if (wasIdle)
        emit idleChanged(false);
    return id;
}

/// On a worker's thread.
void JobList::runNext()
{
    std::shared_ptr<Running> job;
    {
        const std::lock_guard lock(m_mutex);
        job = std::move(m_waiting.front());
        m_waiting.pop_front();
    }
    const quint64 id = job->row.id;
    JobContext context;
    context.cancel = job->cancel;
    context.progress = [weak = std::weak_ptr<Running>(job)](std::string_view phase, size_t done, size_t total) {
        if (const auto target = weak.lock()) {
            const std::lock_guard lock(target->mutex);
            target->phase = phase;
            target->done = done;
            target->total = total;
        }
    };
    context.post = [this, id](std::function<void()> work) {
        deliver([this, id, work = std::move(work)] {
            if (current(id))
                work();
        });
    };
    Result<std::function<void()>> result = internalError("the job ended without a result");
    try {
        result = job->request.process(context);
    } catch (const std::exception& error) {
        result = issueOfThrown(error);
    }
    deliver([this, id, outcome = std::move(result)]() mutable { finish(id, std::move(outcome)); });
}

/// Has the GUI thread do it. The event is called by name and carries nothing: all that passes between the threads lies
/// behind the mutex, where ThreadSanitizer sees it (Qt's own events it does not).
void JobList::deliver(std::function<void()> work)
{
    {
        const std::lock_guard lock(m_mutex);
        m_mail.push_back(std::move(work));
    }
    QMetaObject::invokeMethod(this, "takeMail", Qt::QueuedConnection);
}

void JobList::takeMail()
{
    std::function<void()> work;
    {
        const std::lock_guard lock(m_mutex);
        work = std::move(m_mail.front()); // there is one for each event
        m_mail.pop_front();
    }
    work();
}

bool JobList::current(quint64 id) const
{
    const auto it = m_running.find(id);
    return it != m_running.end() && !it->second->cancel.cancelled();
}

void JobList::cancel(quint64 id)
{
    const auto it = m_running.find(id);
    if (it == m_running.end())
        return;
    it->second->byUser = true;
    it->second->cancel.cancel();
}

void JobList::cancelTag(const QString& tag)
{
    const auto it = m_currentByTag.find(tag);
    if (it != m_currentByTag.end())
        cancel(it->second);
}

void JobList::cancelAll()
{
    for (const auto& [id, job] : m_running)
        cancel(id);
}

void JobList::refresh()
{
    for (const auto& [id, job] : m_running) {
        {
            const std::lock_guard lock(job->mutex);
            job->row.phase = toQt(job->phase);
            job->row.done = job->done;
            job->row.total = job->total;
        }
        job->row.elapsedMs = job->clock.elapsed();
        m_model.update(job->row);
        emit progressed(id);
    }
}

void JobList::finish(quint64 id, Result<std::function<void()>> result)
{
    const std::shared_ptr<Running> job = m_running.at(id);
    const bool stopped = job->cancel.cancelled() || (!result.ok() && result.issue().kind == IssueKind::Cancelled);
    const bool byUser = job->byUser || (stopped && !job->cancel.cancelled());
    {
        const std::lock_guard lock(job->mutex);
        job->row.done = job->done;
        job->row.total = job->total;
    }
    job->row.elapsedMs = job->clock.elapsed();
    job->row.state = stopped ? JobState::Cancelled : result.ok() ? JobState::Done : JobState::Failed;
    if (job->row.state == JobState::Failed)
        job->row.message = issueHeadline(result.issue());
    m_model.update(job->row);
    m_running.erase(id);
    const auto tagged = m_currentByTag.find(job->request.tag);
    if (tagged != m_currentByTag.end() && tagged->second == id)
        m_currentByTag.erase(tagged);

    if (!stopped && result.ok() && result.value())
        result.value()();
    else if (!stopped && !result.ok() && job->request.failed)
        job->request.failed(result.issue());
    else if (byUser && job->request.cancelled)
        job->request.cancelled();
    emit finished(id);
    if (idle()) {
        m_timer.stop();
        emit idleChanged(true);
    }
}

} // namespace qs

#include "moc_job_list.cpp"
