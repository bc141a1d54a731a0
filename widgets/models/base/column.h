// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/rows/comparison.h"

#include <QString>
#include <QStringList>
#include <QVariant>

#include <algorithm>
#include <cmath>
#include <functional>
#include <type_traits>
#include <vector>

namespace qs {

/// Roles that all our tables share.
enum TableRole {
    SortRole = Qt::UserRole, ///< a number (double) or text; invalid = does not exist, always sorted last
    CopyRole, ///< a number, or text, for the clipboard
    BadnessRole, ///< 0 best .. 1 worst, for a bar in the colour scale; invalid = no bar
    SplitRole, ///< QVariantList of doubles: shares of the noise by origin, may be negative
    StripRole, ///< QVariantList of doubles: badness by channel
    RowRole, ///< row in the comparison (size_t as quint64)
    FilterRole, ///< text that the filter field searches
    PartsRole, ///< QStringList of a header: what the numbers of SplitRole are called; invalid = the cell is one value
    OwnRole, ///< the first that a model may give a meaning of its own
};

/// Word: a text that is sorted by a number. Bar: an SQNR with a bar that says how bad it is.
enum class ColumnKind { Text, Word, Value, Bar, Split, Strip };
inline bool isWritten(ColumnKind kind) { return kind == ColumnKind::Text || kind == ColumnKind::Word; }

/// By which code asks for a column: a value of an enumeration of the table's own. Most columns need none.
class ColumnKey {
public:
    ColumnKey() = default;
    template <class Enum>
    ColumnKey(Enum key)
        : m_value(int(key))
    {
        static_assert(std::is_enum_v<Enum>);
    }
    bool operator==(const ColumnKey&) const = default;

private:
    int m_value = -1;
};

/// What of a column is the same for all rows.
struct ColumnSpec {
    QString title;
    QString toolTip; ///< definition, direction, unit
    QString typical; ///< widest usual text
    ColumnKind kind = ColumnKind::Value;
    Qt::SortOrder worst = Qt::AscendingOrder; ///< puts the worst first
    bool shown = true; ///< by default
    ColumnKey key;
    bool ofOther = false; ///< nothing without a second quantized model
    bool (*when)(const Comparison&) = nullptr; ///< of what comparisons it says anything; null: of all
    bool stays = false; ///< is left out last where there is no room
    QStringList parts = {}; ///< of a split, which is copied as so many columns
};

/// What a cell says. Text and sort key follow from certain values of the row; cells are the same where these are equal.
template <class Row> struct Cell {
    std::function<QString(const Row&)> text;
    std::function<Number(const Row&)> number; ///< sort key; nullopt = does not exist, infinite = exact
    std::function<bool(const Row&, const Row&)> same;
};

/// A column of a table: the one place that says all of it. `cells.h` has ways to make its cells.
template <class Row> struct Column {
    ColumnSpec spec;
    Cell<Row> cell;
    std::function<QString(const Row&)> tip; ///< of a cell; none: the column's
    std::function<QVariantList(const Row&)> parts; ///< of a split or strip; empty: the text is shown
};

int alignmentOf(ColumnKind kind);
QVariant headerData(const ColumnSpec& spec, int role);
/// The badness of an SQNR; invalid where it is none.
QVariant badnessOf(const Number& sqnrDb);

/// What a cell holds for a role; invalid for roles that not all tables have.
template <class Row> QVariant cellData(const Column<Row>& column, const Row& row, int role)
{
    const auto& [spec, cell, tip, parts] = column;
    switch (role) {
    case Qt::DisplayRole:
        return cell.text(row);
    case Qt::ToolTipRole:
        return tip ? tip(row) : spec.toolTip;
    case Qt::TextAlignmentRole:
        return alignmentOf(spec.kind);
    case SortRole:
        if (spec.kind == ColumnKind::Text)
            return cell.text(row);
        if (const Number number = cell.number(row))
            return *number;
        return {};
    case CopyRole:
        if (spec.kind == ColumnKind::Split) // the number that it is sorted by is but one of its shares
            return cell.text(row);
        if (const Number number = isWritten(spec.kind) ? Number() : cell.number(row); number && std::isfinite(*number))
            return *number;
        return cell.text(row);
    case BadnessRole:
        return spec.kind == ColumnKind::Bar ? badnessOf(cell.number(row)) : QVariant();
    case SplitRole:
    case StripRole: {
        const bool drawn = parts && (spec.kind == ColumnKind::Split) == (role == SplitRole);
        const QVariantList list = drawn ? parts(row) : QVariantList();
        return list.isEmpty() ? QVariant() : list;
    }
    default:
        return {};
    }
}

/// Where the column with a key stands; there has to be one.
template <class Row> int columnOf(const std::vector<Column<Row>>& columns, ColumnKey key)
{
    const auto it = std::ranges::find(columns, key, [](const Column<Row>& column) { return column.spec.key; });
    Q_ASSERT(it != columns.end());
    return int(it - columns.begin());
}

} // namespace qs
