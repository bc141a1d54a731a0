// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/snapshot/snapshot.h"

#include <QObject>
#include <QString>

#include <vector>

namespace qs {

/// Files that were opened together, or a project.
struct RecentEntry {
    QString project; ///< path; empty: none
    Inputs inputs; ///< of a project: what it named when it was open
};

/// What was opened before, newest first; kept in the user's settings.
class RecentFiles : public QObject {
    Q_OBJECT
public:
    static constexpr int kKept = 10;
    explicit RecentFiles(QObject* parent = nullptr);
    const std::vector<RecentEntry>& entries() const { return m_entries; }
    void add(const Inputs& inputs, const QString& project = {}); ///< nothing happens without a model
    void clear();
    void dropMissing(); ///< entries one of whose files is gone
    /// "digits_float.onnx ⇄ digits_qdq.onnx · digits_samples.npz"
    static QString label(const Inputs& inputs);
    /// One each, with as many folders as tell those apart that would read alike.
    QStringList labels() const;
    static QString label(const RecentEntry& entry); ///< of a project its name, then the same

signals:
    void changed();

private:
    void save() const;
    std::vector<RecentEntry> m_entries;
};

} // namespace qs
