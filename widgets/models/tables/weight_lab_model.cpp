// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/tables/weight_lab_model.h"

#include "widgets/models/base/formatting.h"

#include <algorithm>

namespace qs {

int WeightLabModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() || !m_lab ? 0 : int(m_lab->trials.size());
}

int WeightLabModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : ColumnCount; }

bool WeightLabModel::isStored(const WeightTrial& trial) const
{
    const bool symmetric = std::ranges::all_of(m_stored.zeroPoint, [](int32_t zero) { return zero == 0; });
    return trial.type == m_stored.dtype && trial.perChannel != m_stored.perTensor() && trial.symmetric == symmetric;
}

QString WeightLabModel::text(const WeightTrial& trial, int row, int column) const
{
    switch (column) {
    case Way:
        return toQt(weightTrialName(trial));
    case Sqnr:
        return decibelText(trial.sqnrDb, trial.exact);
    case WorstChannel:
        return decibelText(trial.worstChannelDb);
    case Equalized: {
        const auto& equalized = m_lab->equalized;
        if (!equalized || size_t(row) >= equalized->trials.size())
            return absentText();
        return decibelText(equalized->trials[size_t(row)].sqnrDb, equalized->trials[size_t(row)].exact);
    }
    default:
        return {};
    }
}

QVariant WeightLabModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    const WeightTrial& trial = m_lab->trials[size_t(index.row())];
    switch (role) {
    case Qt::DisplayRole:
        return text(trial, index.row(), index.column());
    case Qt::TextAlignmentRole:
        return int((index.column() == Way ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    case Qt::ToolTipRole:
        return isStored(trial) ? tr("As the file stores it") : QVariant();
    case StoredRole:
        return isStored(trial);
    default:
        return {};
    }
}

QVariant WeightLabModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount)
        return QAbstractTableModel::headerData(section, orientation, role);
    static const std::pair<const char*, const char*> kNames[] {
        { QT_TR_NOOP("stored as"),
            QT_TR_NOOP("Type, symmetry and granularity, with the scales that the quantizer chooses") },
        { QT_TR_NOOP("SQNR"), QT_TR_NOOP("Of the whole weight. Higher is better.") },
        { QT_TR_NOOP("worst channel"), QT_TR_NOOP("SQNR of the worst output channel. Higher is better.") },
        { QT_TR_NOOP("equalized"),
            QT_TR_NOOP("SQNR after cross-layer equalization with the neighbouring layers. Higher is better.") },
    };
    if (role == Qt::DisplayRole)
        return tr(kNames[section].first);
    if (role == Qt::ToolTipRole)
        return tr(kNames[section].second);
    return role == Qt::TextAlignmentRole
        ? QVariant(int((section == Way ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter))
        : QVariant();
}

void WeightLabModel::setLab(std::shared_ptr<const WeightLab> lab, const QuantParams& stored)
{
    beginResetModel();
    m_lab = std::move(lab);
    m_stored = stored;
    endResetModel();
}

} // namespace qs
