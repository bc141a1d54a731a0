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

/// Writes the work of a session to a file of its own after each edit, so that the end of the process loses at most the
/// last one. The file is removed when the session ends in order.
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
    static void discard(const QString& path);

private:
    void save();
    void writeLatest();

    Session& m_session;
    QString m_path;
    std::unique_ptr<QLockFile> m_lock; ///< says that this process is alive
    QThreadPool m_pool; ///< one thread: files are written in order
    std::mutex m_mutex;
    std::optional<Project> m_next; ///< to be written, behind the mutex
    std::map<std::string, FileMark> m_marks; ///< found by the writing thread, behind the mutex
};

} // namespace qs
