// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/session/files/changed_files.h"

#include "core/base/files/whole_file.h"
#include "core/onnx/import.h"

#include <QFile>
#include <QFileInfo>

#include <sys/stat.h>

namespace qs {

namespace {

/// Of a regular file.
std::optional<FileStamp> stampOf(const QString& path)
{
    struct stat info { };
    const bool found = stat(QFile::encodeName(path).constData(), &info) == 0 && S_ISREG(info.st_mode);
    return found ? std::optional(FileStamp(info)) : std::nullopt;
}

struct ReadFile {
    std::string path;
    std::shared_ptr<const void> of; ///< what was read of it
};

/// Files that are read while they are open.
std::vector<ReadFile> filesReadFor(const Snapshot& snapshot)
{
    const auto& other = snapshot.other ? snapshot.other->snapshot->quantFile : std::nullopt;
    std::vector<ReadFile> read { { snapshot.inputs.other.path, other ? other->model : nullptr },
        { snapshot.inputs.data.spec, snapshot.data } };
    for (const auto& loaded : { snapshot.floatFile, snapshot.quantFile })
        if (loaded)
            for (const auto& file : filesOf(*loaded->model))
                read.push_back({ file->path(), loaded->model });
    return read;
}

} // namespace

ChangedFiles::ChangedFiles(Session& session, QObject* parent)
    : QObject(parent)
    , m_session(session)
{
    m_timer.setSingleShot(true);
    m_timer.setInterval(kDelayMs);
    connect(&m_timer, &QTimer::timeout, this, &ChangedFiles::look);
    connect(&m_watcher, &QFileSystemWatcher::fileChanged, this, [this] { m_timer.start(); });
    connect(&m_watcher, &QFileSystemWatcher::directoryChanged, this, [this] { m_timer.start(); });
    connect(&session, &Session::snapshotChanged, this, &ChangedFiles::takeFiles);
    connect(&session, &Session::failed, this, &ChangedFiles::compareAll);
    connect(&session, &Session::workChanged, this, [this] {
        if (m_project != m_session.project())
            watchProject();
    });
    takeFiles();
}

/// Only a file that was read anew is taken as it is now.
void ChangedFiles::takeFiles()
{
    const Snapshot& now = *m_session.snapshot();
    const QString example = now.inputs.recipe ? QString::fromStdString(m_session.files().quantPath) : QString();
    const bool sameModels = m_of && m_example == example && m_of->floatFile == now.floatFile
        && m_of->quantFile == now.quantFile && m_of->data == now.data && m_of->other == now.other;
    m_of = m_session.snapshot();
    m_example = example;
    if (sameModels)
        return;
    if (!m_watcher.files().isEmpty())
        m_watcher.removePaths(m_watcher.files());
    if (!m_watcher.directories().isEmpty())
        m_watcher.removePaths(m_watcher.directories());
    if (now.quantFile && !now.inputs.quantPath.empty()) {
        m_exampleFiles.clear();
        for (const auto& file : filesOf(*now.quantFile->model))
            m_exampleFiles << QString::fromStdString(file->path());
    }
    std::erase_if(
        m_files, [this](const auto& file) { return file.second.of.expired() && !m_exampleFiles.contains(file.first); });
    for (auto& [path, known] : m_files)
        known.shown = false; // an edit that is undone brings it back
    for (const auto& [name, of] : filesReadFor(now)) {
        const QString path = QString::fromStdString(name);
        if (path.isEmpty())
            continue;
        const auto found = m_files.find(path);
        if (found != m_files.end() && found->second.of.lock() == of)
            found->second.shown = true;
        else if (const auto stamp = stampOf(path))
            m_files.insert_or_assign(path, Known { *stamp, *stamp, of });
        else
            continue;
        watch(path);
    }
    takeExample(now);
    watchProject();
    compareAll();
}

/// What an edit made of a quantized file has its ranges and codes of that file.
void ChangedFiles::takeExample(const Snapshot& now)
{
    if (m_example.isEmpty())
        return;
    if (!m_exampleFiles.contains(m_example)) { // a project began with the edit
        m_exampleFiles = { m_example };
        if (const auto stamp = stampOf(m_example))
            m_files.insert_or_assign(
                m_example, Known { *stamp, *stamp, now.floatFile ? now.floatFile->model : nullptr });
    }
    for (const QString& path : m_exampleFiles)
        if (const auto found = m_files.find(path); found != m_files.end()) {
            found->second.shown = true;
            watch(path);
        }
}

QStringList ChangedFiles::older() const
{
    QStringList paths;
    for (const auto& [path, known] : m_files)
        if (known.shown && known.older)
            paths << path;
    return paths;
}

void ChangedFiles::compareAll()
{
    for (auto& [path, known] : m_files) {
        const auto now = stampOf(path);
        known.older = !now || !(*now == known.opened);
    }
    tellOlder();
}

void ChangedFiles::tellOlder()
{
    const QStringList now = older();
    if (now == m_older)
        return;
    m_older = now;
    emit olderChanged();
}

void ChangedFiles::watchProject()
{
    m_project = m_session.project();
    if (!m_project.isEmpty() && QFileInfo::exists(m_project))
        watch(m_project);
}

/// Whatever it was touched by: the work that it holds counts.
void ChangedFiles::lookAtProject()
{
    if (m_project.isEmpty() || m_project != m_session.project() || m_session.projectHash().empty())
        return;
    const auto hash = hashFile(m_project.toStdString(), {});
    if (!hash || hash->hex() == m_session.projectHash() || hash->hex() == m_told)
        return;
    m_told = hash->hex();
    watch(m_project);
    emit projectChanged(m_project);
}

/// The folder, too: whoever writes a file beside it and renames it takes the watched one away.
void ChangedFiles::watch(const QString& path)
{
    m_watcher.addPath(path);
    const QString folder = QFileInfo(path).absolutePath();
    if (!m_watcher.directories().contains(folder))
        m_watcher.addPath(folder);
}

void ChangedFiles::look()
{
    lookAtProject();
    for (auto& [path, known] : m_files) {
        const auto now = stampOf(path);
        if (now && !m_watcher.files().contains(path))
            m_watcher.addPath(path);
        if (!now)
            continue;
        known.older = !(*now == known.opened);
        if (*now == known.told)
            continue;
        known.told = *now;
        if (known.shown)
            emit changed(path);
    }
    tellOlder();
}

} // namespace qs

#include "moc_changed_files.cpp"
