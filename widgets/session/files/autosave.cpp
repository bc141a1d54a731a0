// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/session/files/autosave.h"

#include "widgets/session/files/projects.h"

#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QStandardPaths>
#include <QUuid>

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
    connect(&session.recipe(), &RecipeEdits::recipeChanged, this, &Autosave::save);
    connect(&session.recipe(), &RecipeHistory::linksChanged, this, &Autosave::save);
    connect(&session.runs(), &RunList::changed, this, &Autosave::save);
    connect(&session, &Session::snapshotChanged, this, [this](const SnapshotPtr& now, const SnapshotPtr& before) {
        if (now->inputs.other != before->inputs.other)
            save();
    });
}

Autosave::~Autosave()
{
    flush();
    if (!m_lock)
        return;
    m_lock.reset();
    discard(m_path);
}

void Autosave::flush() { m_pool.waitForDone(); }

void Autosave::save()
{
    Project project = projectOf(m_session);
    const bool edited = m_session.recipe().stack().count() > 0 || project.runs.runs().size() > 1;
    if (project.inputs.floatPath.empty() || !edited)
        return;
    if (!m_lock) {
        QDir().mkpath(QFileInfo(m_path).path());
        m_lock = std::make_unique<QLockFile>(lockOf(m_path));
        m_lock->setStaleLockTime(0); // as long as the process lives
        m_lock->tryLock(0);
    }
    const std::lock_guard guard(m_mutex);
    if (!m_next)
        m_pool.start([this] { writeLatest(); });
    m_next = std::move(project);
}

/// What is newer replaces what waits.
void Autosave::writeLatest()
{
    Project project;
    {
        const std::lock_guard guard(m_mutex);
        project = std::move(*m_next);
        m_next.reset();
        project.files.merge(std::map(m_marks));
    }
    // Where nothing can be written nobody is told: there is nothing to be done about it in the middle of the work.
    if (markFiles(project).ok()) {
        const std::lock_guard guard(m_mutex);
        m_marks = project.files;
    }
    (void)writeProject(project, m_path.toStdString());
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
    QFile::remove(path);
    QFile::remove(lockOf(path));
}

} // namespace qs
