// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/files/project_file.h"

#include <QLockFile>
#include <QObject>
#include <QStringList>
#include <QThreadPool>

#include <memory>
#include <mutex>
#include <optional>

namespace qs {

class Session;

/// Writes work that is not saved to a file of its own after each edit, with the steps of undo, so that the end of the
/// process loses at most the last edit. The file goes when the work is saved or nobody wants it, and only then. Work
/// that is recovered stays in the file that it was kept in.
class Autosave : public QObject {
    Q_OBJECT
public:
    /// `folder` empty: that of the application's data.
    explicit Autosave(Session& session, const QString& folder = {}, QObject* parent = nullptr);
    ~Autosave() override;
    QString path() const { return m_path; }
    void flush(); ///< waits until what was to be written is written

    /// Projects of processes that ended otherwise, newest first.
    static QStringList lost(const QString& folder = {});
    static void discard(const QString& path); ///< nothing happens where a process has taken the file up meanwhile

private:
    void save();
    void takeOver(const QString& path);
    bool lock();
    void writeLatest();

    Session& m_session;
    QString m_path;
    std::unique_ptr<QLockFile> m_lock; ///< says that this process is alive
    QThreadPool m_pool; ///< one thread: files are written in order
    std::mutex m_mutex;
    bool m_waiting = false; ///< something is to be done, behind the mutex
    std::optional<Project> m_next; ///< to be written; none: the file goes; behind the mutex
    StepPatches m_patches; ///< of the writing thread
    std::map<std::string, FileMark> m_marks; ///< found by the writing thread, behind the mutex
};

} // namespace qs
