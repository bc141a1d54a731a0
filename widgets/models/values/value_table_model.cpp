// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/values/value_table_model.h"

#include "widgets/models/base/formatting.h"
#include "widgets/models/values/value_words.h"

#include <QStringList>

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

constexpr int64_t kFewCells = 5000; ///< whose texts may all be looked at for a width
constexpr int kExactDigits = 9; ///< tell any two float32 numbers apart

int pageOf(size_t all, size_t first, int most) { return int(std::min<size_t>(all - first, size_t(most))); }

} // namespace

void ValueTableModel::show(const ValueView& view)
{
    const bool samePlaces = m_view.values && view.values && m_view.values->shape == view.values->shape
        && m_view.slice == view.slice && m_view.across == view.across;
    const bool sameNumbers = m_view.values == view.values && m_view.kind == view.kind && samePlaces;
    if (!sameNumbers)
        m_largest.reset();
    if (samePlaces && rowCount() > 0 && columnCount() > 0) { // what is chosen and in sight stays
        m_view = view;
        emit dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
        return;
    }
    beginResetModel();
    m_view = view;
    m_grid = view.values ? SliceGrid(view.slice, view.values->shape, view.across) : SliceGrid();
    m_firstRow = m_firstColumn = 0;
    endResetModel();
}

void ValueTableModel::setLargest(std::optional<double> largest)
{
    if (m_largest == largest)
        return;
    m_largest = largest;
    if (rowCount() > 0 && columnCount() > 0)
        emit dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1), { StrengthRole });
}

void ValueTableModel::turnTo(size_t row, size_t column)
{
    const size_t firstRow = row / size_t(kMostRows) * size_t(kMostRows);
    const size_t firstColumn = column / size_t(kMostColumns) * size_t(kMostColumns);
    if (firstRow == m_firstRow && firstColumn == m_firstColumn)
        return;
    beginResetModel();
    m_firstRow = firstRow;
    m_firstColumn = firstColumn;
    endResetModel();
}

QModelIndex ValueTableModel::reveal(size_t position)
{
    const size_t row = position / m_grid.columns(), column = position % m_grid.columns();
    turnTo(row, column);
    return index(int(row - m_firstRow), int(column - m_firstColumn));
}

size_t ValueTableModel::positionOf(const QModelIndex& index) const
{
    return (m_firstRow + size_t(index.row())) * m_grid.columns() + m_firstColumn + size_t(index.column());
}

int ValueTableModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() || m_grid.columns() == 0 ? 0 : pageOf(m_grid.rows(), m_firstRow, kMostRows);
}

int ValueTableModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() || m_grid.rows() == 0 ? 0 : pageOf(m_grid.columns(), m_firstColumn, kMostColumns);
}

QVariant ValueTableModel::data(const QModelIndex& index, int role) const
{
    if (!index.isValid())
        return {};
    const size_t element = m_grid.at(positionOf(index));
    switch (role) {
    case Qt::DisplayRole:
        return cellText(element);
    case Qt::ToolTipRole:
        return elementText(*m_view.values, element);
    case Qt::TextAlignmentRole:
        return int(Qt::AlignRight | Qt::AlignVCenter);
    case StrengthRole:
        return strength(element);
    case CopyRole:
        return copyText(element);
    default:
        return {};
    }
}

QVariant ValueTableModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (role == Qt::TextAlignmentRole)
        return int(Qt::AlignRight | Qt::AlignVCenter);
    if (role != Qt::DisplayRole || section < 0 || !m_view.values)
        return {};
    if (orientation == Qt::Horizontal)
        return m_view.across ? QString::number(m_grid.columnIndex(m_firstColumn + size_t(section))) : QString();
    QStringList indices;
    for (const int64_t index : m_grid.rowIndices(m_firstRow + size_t(section)))
        indices << QString::number(index);
    return indices.join(QStringLiteral(", "));
}

QString ValueTableModel::cellText(size_t element) const
{
    const Elements* side = quantizedOf(*m_view.values, m_view.kind);
    const int limit = side ? side->atLimit(element) : 0;
    const QString sign = limit == 0 ? QString() : limit < 0 ? QStringLiteral("▼ ") : QStringLiteral("▲ ");
    if (isCodes(m_view.kind))
        return sign + codeText(side->code(element), side->params().dtype, m_view.hex);
    return sign + numberText(valueAt(*m_view.values, m_view.kind, element), m_view.digits);
}

QString ValueTableModel::copyText(size_t element) const
{
    if (isCodes(m_view.kind))
        return QString::number(quantizedOf(*m_view.values, m_view.kind)->code(element));
    return QString::number(valueAt(*m_view.values, m_view.kind, element), 'g', kExactDigits);
}

QVariant ValueTableModel::strength(size_t element) const
{
    if (!m_largest)
        return {};
    const double value = valueAt(*m_view.values, m_view.kind, element);
    if (!std::isfinite(value))
        return {};
    return *m_largest > 0 ? std::min(1.0, std::fabs(value) / *m_largest) : 0;
}

QString ValueTableModel::widestCell() const
{
    if (rowCount() > 0 && int64_t(rowCount()) * columnCount() <= kFewCells)
        return widestOfFew();
    const Elements* side = m_view.values ? quantizedOf(*m_view.values, m_view.kind) : nullptr;
    const bool signs = side && side->hasCodes() && dtypeBits(side->params().dtype) <= 16;
    const QString sign = signs ? QStringLiteral("▲ ") : QString();
    if (side && isCodes(m_view.kind)) {
        const size_t bits = dtypeBits(side->params().dtype);
        return sign + codeText(bits <= 32 ? -(int64_t(1) << (bits - 1)) : 0, side->params().dtype, m_view.hex);
    }
    return sign + numberText(-0.000123456789, m_view.digits);
}

QString ValueTableModel::widestOfFew() const
{
    QString widest;
    for (int row = 0; row < rowCount(); ++row)
        for (int column = 0; column < columnCount(); ++column) {
            const QString text = cellText(m_grid.at(positionOf(index(row, column))));
            widest = text.size() > widest.size() ? text : widest;
        }
    return widest;
}

QString ValueTableModel::widestRow() const
{
    return m_grid.rows() == 0 ? QString() : headerData(rowCount() - 1, Qt::Vertical, Qt::DisplayRole).toString();
}

} // namespace qs

#include "moc_value_table_model.cpp"
