// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/files/file_identity.h"
#include "widgets/session/session.h"

#include <QFileSystemWatcher>
#include <QObject>
#include <QStringList>
#include <QTimer>

#include <map>
#include <memory>

namespace qs {

/// Notices models, their external weights, data and the project that are written anew while they are open. Each change
/// is told once, when the file has been left alone for a moment; a file that is gone is nothing to tell of, since it
/// may be on its way. What is shown stays of the older files until they are read again, whatever is run meanwhile.
class ChangedFiles : public QObject {
    Q_OBJECT
public:
    explicit ChangedFiles(Session& session, QObject* parent = nullptr);
    static constexpr int kDelayMs = 700;
    /// Files that what is shown was read of, and that are other ones now, or gone: that is looked for where numbers are
    /// made of them or an opening failed.
    QStringList older() const;

signals:
    void changed(const QString& path);
    void olderChanged();
    void projectChanged(const QString& path); ///< by somebody else than this session

private:
    /// A file as it was when what is open was read of it.
    struct Known {
        FileStamp opened, told;
        std::weak_ptr<const void> of; ///< what was read
        bool shown = true; ///< by the present snapshot
        bool older = false;
    };
    void takeFiles(); ///< those that are open now
    void takeExample(const Snapshot& now);
    void compareAll(); ///< with what is there now
    void tellOlder();
    void watchProject();
    void look();
    void lookAtProject();
    void watch(const QString& path);

    Session& m_session;
    QFileSystemWatcher m_watcher;
    QTimer m_timer;
    std::map<QString, Known> m_files;
    QStringList m_older; ///< that was told last
    SnapshotPtr m_of;
    QString m_example; ///< quantized file that the shown recipe was read from; empty: none
    QStringList m_exampleFiles; ///< of the quantized file that is open: itself, its external weights
    QString m_project; ///< that is watched
    std::string m_told; ///< hash of it that was told of
};

} // namespace qs
