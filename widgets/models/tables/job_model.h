// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/models/base/row_model.h"

#include <QDateTime>

namespace qs {

/// Hidden jobs (hover, layout of a moment) do not fill the list.
enum class Visibility { Shown, Hidden };
enum class JobState { Running, Done, Failed, Cancelled };

struct JobRow {
    quint64 id = 0;
    QString title;
    QString phase;
    quint64 done = 0, total = 0; ///< total 0 = unknown
    JobState state = JobState::Running;
    QString message; ///< why it failed
    QDateTime begin;
    qint64 elapsedMs = 0;
    bool operator==(const JobRow&) const = default;
};

/// Work running and done, newest first. The session feeds it.
class JobModel : public RowModel<JobRow> {
    Q_OBJECT
public:
    enum class Key { Progress, Rate, Remaining };
    static constexpr int kKept = 500; ///< older finished jobs are dropped

    explicit JobModel(QObject* parent = nullptr);
    void add(const JobRow& row);
    void update(const JobRow& row); ///< nothing happens for an unknown id or an equal row
    const JobRow* find(quint64 id) const; ///< valid until the next change
    std::vector<JobRow> rows() const;

protected:
    bool isSame(const JobRow& a, const JobRow& b) const override { return a.id == b.id; }
};

} // namespace qs
