// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/models/base/column_model.h"

#include <memory>

namespace qs {

/// Rows that somebody keeps alive.
template <class Row> class RowList {
public:
    RowList() = default;
    RowList(const std::vector<Row>& rows, std::shared_ptr<const void> owner)
        : m_owner(std::move(owner))
    {
        m_rows.reserve(rows.size());
        for (const Row& row : rows)
            m_rows.push_back(&row);
    }
    RowList(std::vector<Row> rows)
        : RowList(std::make_shared<const std::vector<Row>>(std::move(rows)))
    {
    }
    int size() const { return int(m_rows.size()); }
    const Row& operator[](int row) const { return *m_rows[size_t(row)]; }
    /// The first `head` and the last `tail` rows.
    RowList ends(int head, int tail) const
    {
        RowList list;
        list.m_rows.assign(m_rows.begin(), m_rows.begin() + head);
        list.m_rows.insert(list.m_rows.end(), m_rows.end() - tail, m_rows.end());
        list.m_owner = m_owner;
        return list;
    }

private:
    explicit RowList(const std::shared_ptr<const std::vector<Row>>& rows)
        : RowList(*rows, rows)
    {
    }
    std::vector<const Row*> m_rows;
    std::shared_ptr<const void> m_owner;
};

/// Table whose columns are declared and whose rows are replaced as a whole. Rows of the same things stay: those that
/// only changed their cells are announced by one dataChanged, others by one removal and one insertion between the
/// common beginning and end.
template <class Row> class RowModel : public ColumnModel {
public:
    int rowCount(const QModelIndex& parent = {}) const final { return parent.isValid() ? 0 : m_rows.size(); }
    int columnCount(const QModelIndex& parent = {}) const final { return parent.isValid() ? 0 : int(m_columns.size()); }
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const final;
    const ColumnSpec& column(int section) const final { return m_columns[size_t(section)].spec; }
    int columnOf(ColumnKey key) const final { return qs::columnOf(m_columns, key); }
    const Row& at(int row) const { return m_rows[row]; }

protected:
    using R = Row;
    using Columns = std::vector<Column<Row>>;
    using enum ColumnKind;
    static constexpr auto kUp = Qt::AscendingOrder, kDown = Qt::DescendingOrder;

    using ColumnModel::ColumnModel;
    /// At the right of those that are there; before there are rows.
    void addColumns(Columns columns);
    void setRows(RowList<Row> rows);
    /// Whether two rows are of the same thing, whatever its numbers.
    virtual bool isSame(const Row& a, const Row& b) const = 0;
    virtual QString filterText(const Row&) const { return {}; }
    /// Roles from OwnRole on.
    virtual QVariant own(const Row&, int /*role*/) const { return {}; }

private:
    bool sameCells(const Row& a, const Row& b) const
    {
        return std::ranges::all_of(m_columns, [&](const Column<Row>& column) { return column.cell.same(a, b); });
    }
    void announce(const RowList<Row>& before, int head);

    Columns m_columns;
    RowList<Row> m_rows;
};

/// The rows that the snapshot has of something.
template <class Row> class SnapshotModel : public RowModel<Row> {
public:
    void setSnapshot(const SnapshotPtr& snapshot) final
    {
        if (!snapshot || snapshot == m_snapshot)
            return;
        const SnapshotPtr before = std::exchange(m_snapshot, snapshot); // lives until its rows are compared
        this->setRows(rowsOf(snapshot));
    }
    const SnapshotPtr& snapshot() const { return m_snapshot; }

protected:
    using RowModel<Row>::RowModel;
    virtual RowList<Row> rowsOf(const SnapshotPtr& snapshot) const = 0;
    /// For a list that the comparison has; empty without one.
    static RowList<Row> comparisonRows(const SnapshotPtr& snapshot, std::vector<Row> Comparison::*rows)
    {
        return snapshot->comparison ? RowList<Row>((*snapshot->comparison).*rows, snapshot) : RowList<Row>();
    }

private:
    SnapshotPtr m_snapshot = std::make_shared<Snapshot>();
};

template <class Row> QVariant RowModel<Row>::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    const Row& row = m_rows[index.row()];
    if (role >= OwnRole)
        return own(row, role);
    if (role == RowRole)
        return QVariant::fromValue<quint64>(quint64(index.row()));
    if (role == FilterRole)
        return filterText(row);
    return cellData(m_columns[size_t(index.column())], row, role);
}

template <class Row> void RowModel<Row>::addColumns(Columns columns)
{
    std::ranges::move(columns, std::back_inserter(m_columns));
}

template <class Row> void RowModel<Row>::setRows(RowList<Row> rows)
{
    const RowList<Row> before = m_rows;
    const int old = before.size(), now = rows.size(), shared = std::min(old, now);
    int head = 0, tail = 0;
    while (head < shared && isSame(before[head], rows[head]))
        ++head;
    while (tail < shared - head && isSame(before[old - 1 - tail], rows[now - 1 - tail]))
        ++tail;
    if (head == 0 && tail == 0 && old > 0) {
        beginResetModel();
        m_rows = rows;
        endResetModel();
        return;
    }
    const bool removes = old - tail > head, inserts = now - tail > head;
    if (removes)
        beginRemoveRows({}, head, old - tail - 1);
    m_rows = inserts ? rows.ends(head, tail) : rows;
    if (removes)
        endRemoveRows();
    announce(before, head);
    if (inserts) {
        beginInsertRows({}, head, now - tail - 1);
        m_rows = rows;
        endInsertRows();
    }
}

/// Rows that stayed, `head` of them at the beginning and the others at the end, and say something else now. A proxy
/// that sorts has to know it before it finds places for new rows among them.
template <class Row> void RowModel<Row>::announce(const RowList<Row>& before, int head)
{
    const int count = m_rows.size(), removed = before.size() - count;
    const auto stays = [&](int row) { return sameCells(before[row < head ? row : row + removed], m_rows[row]); };
    int first = 0, last = count - 1;
    while (first <= last && stays(first))
        ++first;
    while (last > first && stays(last))
        --last;
    if (first <= last)
        emit dataChanged(index(first, 0), index(last, columnCount() - 1));
}

} // namespace qs
