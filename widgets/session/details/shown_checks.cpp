// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/session/details/shown_checks.h"

#include "widgets/models/words/error_text.h"

#include <QPointer>

#include <utility>

namespace qs {

namespace {

/// The shown comparison, or both where a second quantized model is there: the first and the second.
std::vector<const Snapshot*> comparisonsOf(const SnapshotPtr& snapshot)
{
    if (!snapshot->other)
        return { snapshot.get() };
    return { snapshot.get(), snapshot->other->snapshot.get() };
}

WorkContext workOf(const Snapshot& snapshot, const JobContext& job)
{
    return workFor(snapshot.inputs, job.progress, job.cancel);
}

} // namespace

ShownCheck::ShownCheck(Session& session, QString tag, QObject* parent)
    : QObject(parent)
    , m_session(session)
    , m_tag(std::move(tag))
{
    connect(&session, &Session::snapshotChanged, this, &ShownCheck::refresh);
}

void ShownCheck::watch(bool looks)
{
    m_watched = looks;
    refresh();
}

bool ShownCheck::running() const { return m_session.jobs().running(m_tag); }

void ShownCheck::ask()
{
    m_session.jobs().cancelTag(m_tag);
    m_done.reset();
    m_problem.clear();
    refresh();
}

void ShownCheck::drop()
{
    forget();
    ask();
}

void ShownCheck::refresh()
{
    const SnapshotPtr now = m_session.snapshot();
    if (m_of != now) {
        m_of = now;
        m_session.jobs().cancelTag(m_tag);
        m_done.reset();
        m_problem.clear();
        forget();
    }
    const bool ready = now->comparison && !now->comparison->partial && now->data;
    if (m_done || !m_watched || !ready || !wanted(*now)) {
        emit changed();
        return;
    }
    m_done = now;
    JobRequest job;
    job.tag = m_tag;
    job.title = title();
    job.process
        = [self = QPointer(this), now, work = work()](const JobContext& context) -> Result<std::function<void()>> {
        QS_TRY(const std::function<void()> take, work(now, context));
        return std::function<void()>([self, now, take] {
            if (!self || self->m_done != now)
                return;
            take();
            emit self->changed();
        });
    };
    job.failed = [self = QPointer(this), now](const Issue& issue) {
        if (!self || self->m_done != now)
            return;
        self->m_problem = issueHeadline(issue);
        emit self->changed();
    };
    job.cancelled = [self = QPointer(this), now] {
        if (!self || self->m_done != now)
            return;
        self->m_problem = tr("Cancelled.");
        emit self->changed();
    };
    m_session.jobs().start(std::move(job));
    emit changed();
}

ShownLadder::ShownLadder(Session& session, QObject* parent)
    : ShownCheck(session, QStringLiteral("ladder"), parent)
{
}

void ShownLadder::setFiles(const SavedFiles& files)
{
    m_files = files;
    m_ladder.reset();
    ask();
}

bool ShownLadder::wanted(const Snapshot& snapshot) const { return m_files.any() && snapshot.inputs.carry.empty(); }

ShownCheck::Work ShownLadder::work()
{
    return [this, files = m_files](const SnapshotPtr& now, const JobContext& job) -> Result<std::function<void()>> {
        QS_TRY(Ladder ladder, climbedLadder(*now, files, workOf(*now, job)));
        return std::function<void()>([this, ladder = std::move(ladder)] { m_ladder = ladder; });
    };
}

ShownElements::ShownElements(Session& session, QObject* parent)
    : ShownCheck(session, QStringLiteral("elements"), parent)
{
}

void ShownElements::setTolerance(const ElementTolerance& tolerance)
{
    m_tolerance = tolerance;
    m_found.reset();
    ask();
}

ShownCheck::Work ShownElements::work()
{
    return [this, tolerance = *m_tolerance](
               const SnapshotPtr& now, const JobContext& job) -> Result<std::function<void()>> {
        const auto both = comparisonsOf(now);
        const Snapshot* const first = both.size() > 1 ? both.front() : nullptr;
        QS_TRY(ElementDifferences found, elementDifferences(first, *both.back(), tolerance, workOf(*now, job)));
        return std::function<void()>([this, found = std::move(found)] { m_found = found; });
    };
}

ShownFiles::ShownFiles(Session& session, QObject* parent)
    : ShownCheck(session, QStringLiteral("files"), parent)
{
}

void ShownFiles::measureTime()
{
    m_timed = true;
    ask();
}

void ShownFiles::forget()
{
    m_found.clear();
    m_timed = false;
}

ShownCheck::Work ShownFiles::work()
{
    return [this, timed = m_timed](const SnapshotPtr& now, const JobContext& job) -> Result<std::function<void()>> {
        const auto both = comparisonsOf(now);
        std::vector<FileFacts> facts = fileFacts(both);
        if (timed)
            QS_CHECK(measureTimes(facts, both, kTimedRuns, workOf(*now, job)));
        return std::function<void()>([this, facts = std::move(facts)] { m_found = facts; });
    };
}

} // namespace qs

#include "moc_shown_checks.cpp"
