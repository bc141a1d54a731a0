// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/snapshot/snapshot.h"

#include <QAbstractTableModel>
#include <QString>

#include <vector>

namespace qs {

/// Roles that all our tables share.
enum TableRole {
    SortRole = Qt::UserRole, ///< a number (double) or text; invalid = does not exist, always sorted last
    CopyRole, ///< text for the clipboard: full precision
    BadnessRole, ///< 0 best .. 1 worst, for a bar in the colour scale; invalid = no bar
    SplitRole, ///< QVariantList of doubles: clipping, rounding, inherited (shares, may be negative)
    StripRole, ///< QVariantList of doubles: badness by channel
    RowRole, ///< row in the comparison (size_t as quint64)
    FilterRole, ///< text that the filter field searches
    WorstOrderRole, ///< header: Qt::SortOrder that puts the worst first
    WidthRole, ///< header: typical text, for the initial width
    PresetRole, ///< header: true = shown by default
};

/// Word: a text that is sorted by a number.
enum class ColumnKind { Text, Word, Value, Bar, Split, Strip };
inline bool isWritten(ColumnKind kind) { return kind == ColumnKind::Text || kind == ColumnKind::Word; }

struct ColumnSpec {
    QString title;
    QString toolTip; ///< definition, direction, unit
    QString typical; ///< widest usual text
    ColumnKind kind = ColumnKind::Value;
    Qt::SortOrder worst = Qt::AscendingOrder;
    bool shown = true;
};

/// Table over rows of the current snapshot's comparison. Concrete models say only what a cell holds. Replacing the
/// snapshot keeps equal rows: rows that only changed their numbers are announced by one dataChanged, other names by one
/// removal and one insertion between the common beginning and end.
class ColumnModel : public QAbstractTableModel {
    Q_OBJECT
public:
    int rowCount(const QModelIndex& parent = {}) const final;
    int columnCount(const QModelIndex& parent = {}) const final;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;
    void setSnapshot(const SnapshotPtr& snapshot);
    const SnapshotPtr& snapshot() const { return m_snapshot; }
    const ColumnSpec& column(int section) const { return m_columns[size_t(section)]; }

    /// Sort keys of a whole column at once: numbers, or ranks of texts. NaN = does not exist.
    std::vector<double> sortKeys(int column) const;

protected:
    ColumnModel(std::vector<ColumnSpec> columns, QObject* parent);
    virtual int countOf(const Snapshot& snapshot) const = 0;
    /// What makes a row the same row in another snapshot.
    virtual std::string keyOf(const Snapshot& snapshot, int row) const = 0;
    virtual bool sameNumbers(const Snapshot& a, int rowA, const Snapshot& b, int rowB) const = 0;
    virtual QString text(int row, int column) const = 0;
    /// Sort key of a number column; nullopt = does not exist; infinite for exact.
    virtual Number number(int row, int column) const = 0;
    virtual QString filterText(int row) const = 0;
    virtual QVariant extra(int row, int column, int role) const; ///< bars, tool tips, alignment overrides
    const Snapshot& current() const { return *m_snapshot; }

private:
    void announceChanges(const SnapshotPtr& before);
    std::vector<ColumnSpec> m_columns;
    SnapshotPtr m_snapshot = std::make_shared<Snapshot>();
    int m_rows = 0;
};

} // namespace qs
