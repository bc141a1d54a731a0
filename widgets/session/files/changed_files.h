// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session/session.h"

#include <QFileSystemWatcher>
#include <QObject>
#include <QTimer>

#include <map>

namespace qs {

/// Notices models and data that are written anew while they are open. Each change is told once, when the file has been
/// left alone for a moment; a file that is gone is nothing to tell of, since it may be on its way.
class ChangedFiles : public QObject {
    Q_OBJECT
public:
    explicit ChangedFiles(Session& session, QObject* parent = nullptr);
    static constexpr int kDelayMs = 700;

signals:
    void changed(const QString& path);

private:
    struct Stamp {
        qint64 size = 0, modified = 0; ///< bytes; milliseconds
        bool operator==(const Stamp&) const = default;
    };
    static std::optional<Stamp> stampOf(const QString& path);
    void takeFiles(); ///< those that are open now
    void look();
    void watch(const QString& path);

    Session& m_session;
    QFileSystemWatcher m_watcher;
    QTimer m_timer;
    std::map<QString, Stamp> m_files; ///< as they were opened, or told last
    SnapshotPtr m_of;
};

} // namespace qs
