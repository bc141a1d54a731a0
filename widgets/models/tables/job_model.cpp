// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/tables/job_model.h"

#include "widgets/models/base/formatting.h"

#include <algorithm>

namespace qs {

namespace {

double fraction(const JobRow& row)
{
    if (row.state == JobState::Done)
        return 1;
    return row.total > 0 ? std::min(1.0, double(row.done) / double(row.total)) : 0;
}

/// Units a second; 0 when unknown.
double rate(const JobRow& row) { return row.elapsedMs > 0 ? 1000.0 * double(row.done) / double(row.elapsedMs) : 0; }

} // namespace

int JobModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : int(m_rows.size()); }

int JobModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : ColumnCount; }

QVariant JobModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    const JobRow& row = m_rows[size_t(index.row())];
    switch (role) {
    case Qt::DisplayRole:
        return text(row, index.column());
    case Qt::ToolTipRole:
        return row.message.isEmpty() ? row.title : row.message;
    case Qt::TextAlignmentRole:
        return int((index.column() <= Phase ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    case IdRole:
        return row.id;
    case StateRole:
        return int(row.state);
    case FractionRole:
        return fraction(row);
    case SortRole:
        switch (index.column()) {
        case Progress:
            return fraction(row);
        case Rate:
            return rate(row);
        case Elapsed:
        case Remaining:
            return double(row.elapsedMs);
        default:
            return text(row, index.column());
        }
    default:
        return {};
    }
}

QString JobModel::text(const JobRow& row, int column) const
{
    const bool running = row.state == JobState::Running;
    switch (column) {
    case Title:
        return row.title;
    case Phase:
        switch (row.state) {
        case JobState::Running:
            return row.phase.isEmpty() ? tr("starting") : row.phase;
        case JobState::Done:
            return tr("done");
        case JobState::Failed:
            return tr("failed: %1").arg(row.message);
        case JobState::Cancelled:
            return tr("cancelled");
        }
        return {};
    case Progress:
        return row.total > 0 ? tr("%1 of %2").arg(countText(row.done), countText(row.total)) : QString();
    case Rate:
        return running && row.total > 0 && row.done > 0 && row.elapsedMs > 0
            ? numberText(rate(row)) + QStringLiteral(" / s")
            : QString();
    case Remaining:
        if (!running || row.done == 0 || row.total <= row.done)
            return {};
        return durationText(double(row.elapsedMs) * double(row.total - row.done) / double(row.done));
    case Elapsed:
        return durationText(double(row.elapsedMs));
    default:
        return {};
    }
}

QVariant JobModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount)
        return QAbstractTableModel::headerData(section, orientation, role);
    if (role == Qt::TextAlignmentRole)
        return int((section <= Phase ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    if (role != Qt::DisplayRole)
        return {};
    switch (section) {
    case Title:
        return tr("job");
    case Phase:
        return tr("phase");
    case Progress:
        return tr("progress");
    case Rate:
        return tr("rate");
    case Remaining:
        return tr("remaining");
    case Elapsed:
        return tr("time");
    default:
        return {};
    }
}

void JobModel::add(const JobRow& row)
{
    if (m_rows.size() >= size_t(kKept)) {
        const int last = int(m_rows.size()) - 1;
        beginRemoveRows({}, last, last);
        m_rows.pop_back();
        endRemoveRows();
    }
    beginInsertRows({}, 0, 0);
    m_rows.insert(m_rows.begin(), row);
    endInsertRows();
}

void JobModel::update(const JobRow& row)
{
    const auto it = std::find_if(m_rows.begin(), m_rows.end(), [&](const JobRow& r) { return r.id == row.id; });
    if (it == m_rows.end() || *it == row)
        return;
    *it = row;
    const int position = int(it - m_rows.begin());
    emit dataChanged(index(position, 0), index(position, ColumnCount - 1));
}

const JobRow* JobModel::find(quint64 id) const
{
    const auto it = std::find_if(m_rows.begin(), m_rows.end(), [id](const JobRow& row) { return row.id == id; });
    return it == m_rows.end() ? nullptr : &*it;
}

} // namespace qs
