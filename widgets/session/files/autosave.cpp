// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/session/files/autosave.h"

#include "widgets/session/files/projects.h"

#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QStandardPaths>
#include <QUuid>

#include <exception>
#include <utility>

namespace qs {

namespace {

QString folderOrDefault(const QString& folder)
{
    return folder.isEmpty()
        ? QStandardPaths::writableLocation(QStandardPaths::AppDataLocation) + QStringLiteral("/recovery")
        : folder;
}

QString lockOf(const QString& path) { return path + QStringLiteral(".lock"); }

} // namespace

Autosave::Autosave(Session& session, const QString& folder, QObject* parent)
    : QObject(parent)
    , m_session(session)
    , m_path(QDir(folderOrDefault(folder))
                 .filePath(QUuid::createUuid().toString(QUuid::WithoutBraces) + QStringLiteral(".qscope")))
{
    m_pool.setMaxThreadCount(1);
    connect(&session, &Session::workChanged, this, &Autosave::save);
    connect(&session, &Session::recovered, this, &Autosave::takeOver);
}

Autosave::~Autosave()
{
    flush();
    if (!m_lock)
        return;
    m_lock.reset();
    if (!m_session.unsaved() && !m_session.guest())
        discard(m_path);
}

void Autosave::flush() { m_pool.waitForDone(); }

bool Autosave::lock()
{
    QDir().mkpath(QFileInfo(m_path).path());
    m_lock = std::make_unique<QLockFile>(lockOf(m_path));
    m_lock->setStaleLockTime(0); // as long as the process lives
    return m_lock->tryLock(0);
}

void Autosave::save()
{
    if (m_session.guest())
        return; // what was set aside stays kept
    const bool keep = m_session.unsaved() && !m_session.files().floatPath.empty();
    if (!keep && !m_lock)
        return; // nothing was kept
    std::optional<Project> next;
    if (keep) {
        next = projectOf(m_session);
        next->recovery = Recovery { m_session.project().toStdString(), m_session.recipe().steps() };
        if (!m_lock)
            lock();
    }
    const std::lock_guard guard(m_mutex);
    if (!m_waiting)
        m_pool.start([this] { writeLatest(); });
    m_waiting = true;
    m_next = std::move(next);
}

/// What this session had kept before is not its work any more. Where another process has the file, its work is kept in
/// a file of our own.
void Autosave::takeOver(const QString& path)
{
    if (m_session.guest())
        return; // what a guest opens goes with it; the file stays, and is offered at the next start
    flush();
    if (path != m_path) {
        auto ownLock = std::move(m_lock);
        const QString own = std::exchange(m_path, path);
        if (lock()) {
            if (ownLock) {
                ownLock.reset();
                discard(own);
            }
        } else {
            m_path = own;
            m_lock = std::move(ownLock);
        }
    }
    save();
}

/// What is newer replaces what waits.
void Autosave::writeLatest()
try {
    std::optional<Project> project;
    {
        const std::lock_guard guard(m_mutex);
        project = std::exchange(m_next, std::nullopt);
        m_waiting = false;
        if (project)
            project->files.merge(std::map(m_marks));
    }
    if (!project) {
        QFile::remove(m_path);
        return;
    }
    // Where nothing can be written nobody is told: there is nothing to be done about it in the middle of the work.
    if (markFiles(*project).ok()) {
        const std::lock_guard guard(m_mutex);
        m_marks = project->files;
    }
    (void)writeProject(*project, m_path.toStdString(), &m_patches);
} catch (const std::exception&) { // such as no memory for it: what was kept before stays
}

QStringList Autosave::lost(const QString& folder)
{
    const QDir dir(folderOrDefault(folder));
    QStringList paths;
    for (const QString& name : dir.entryList({ QStringLiteral("*.qscope") }, QDir::Files, QDir::Time)) {
        QLockFile lock(lockOf(dir.filePath(name)));
        lock.setStaleLockTime(0);
        if (lock.tryLock(0))
            paths << dir.filePath(name);
    }
    return paths;
}

void Autosave::discard(const QString& path)
{
    QLockFile lock(lockOf(path));
    lock.setStaleLockTime(0);
    if (lock.tryLock(0))
        QFile::remove(path);
}

} // namespace qs

#include "moc_autosave.cpp"
