// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/files/file_identity.h"
#include "widgets/session/session.h"

#include <QFileSystemWatcher>
#include <QObject>
#include <QTimer>

#include <map>

namespace qs {

/// Notices models, their external weights, data and the project that are written anew while they are open. Each change
/// is told once, when the file has been left alone for a moment; a file that is gone is nothing to tell of, since it
/// may be on its way.
class ChangedFiles : public QObject {
    Q_OBJECT
public:
    explicit ChangedFiles(Session& session, QObject* parent = nullptr);
    static constexpr int kDelayMs = 700;

signals:
    void changed(const QString& path);
    void projectChanged(const QString& path); ///< by somebody else than this session

private:
    void takeFiles(); ///< those that are open now
    void watchProject();
    void look();
    void lookAtProject();
    void watch(const QString& path);

    Session& m_session;
    QFileSystemWatcher m_watcher;
    QTimer m_timer;
    std::map<QString, FileStamp> m_files; ///< as they were opened, or told last
    SnapshotPtr m_of;
    QString m_project; ///< that is watched
    std::string m_told; ///< hash of it that was told of
};

} // namespace qs
