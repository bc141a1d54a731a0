// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractTableModel>
#include <QDateTime>
#include <QString>

#include <vector>

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
class JobModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Title, Phase, Progress, Rate, Remaining, Elapsed, ColumnCount };
    enum Role { SortRole = Qt::UserRole, IdRole, StateRole, FractionRole };
    static constexpr int kKept = 500; ///< older finished jobs are dropped

    using QAbstractTableModel::QAbstractTableModel;
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

    void add(const JobRow& row);
    void update(const JobRow& row); ///< nothing happens for an unknown id or an equal row
    const JobRow* find(quint64 id) const;
    const std::vector<JobRow>& rows() const { return m_rows; }

private:
    QString text(const JobRow& row, int column) const;
    std::vector<JobRow> m_rows;
};

} // namespace qs
