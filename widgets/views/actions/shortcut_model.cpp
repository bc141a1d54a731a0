// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/actions/shortcut_model.h"

#include "widgets/views/actions/named_action.h"

#include <QFont>

#include <algorithm>

namespace qs {

ShortcutModel::ShortcutModel(ActionRegistry& registry, QObject* parent)
    : QAbstractTableModel(parent)
    , m_registry(registry)
{
    connect(&registry, &ActionRegistry::changed, this, [this] {
        beginResetModel();
        m_cells.clear();
        endResetModel();
    });
}

int ShortcutModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : int(m_registry.entries().size());
}

QString ShortcutModel::conflict(const ActionEntry& entry) const
{
    QStringList others;
    for (const QKeySequence& key : entry.keys()) {
        for (const ActionEntry* rival : m_registry.rivals(entry, key))
            others << rival->text();
        if (const QString menu = m_registry.menuOpenedBy(key); !menu.isEmpty())
            others << tr("menu %1").arg(menu);
    }
    others.removeDuplicates();
    return others.isEmpty() ? QString() : tr("⚠ also: %1").arg(others.join(QStringLiteral(", ")));
}

QString ShortcutModel::cell(const ActionEntry& entry, int column) const
{
    switch (column) {
    case Name:
        return entry.text();
    case Where:
        return entry.scope.isEmpty() || entry.scope == entry.path ? entry.path
                                                                  : tr("%1, in %2").arg(entry.path, entry.scope);
    case Keys:
        return keysText(entry.keys());
    case Standard:
        return keysText(entry.standard);
    default: {
        const QString also = conflict(entry);
        return !also.isEmpty() ? also : m_registry.isChanged(entry) ? tr("changed") : QString();
    }
    }
}

const ShortcutModel::Cells& ShortcutModel::cells(int row) const
{
    if (m_cells.empty())
        for (const ActionEntry& its : m_registry.entries()) {
            Cells& cells = m_cells.emplace_back();
            for (int column = 0; column < kColumns; ++column)
                cells[size_t(column)] = cell(its, column);
        }
    return m_cells[size_t(row)];
}

bool ShortcutModel::holds(int row, const QString& word) const
{
    return std::ranges::any_of(
        cells(row), [&](const QString& text) { return text.contains(word, Qt::CaseInsensitive); });
}

QVariant ShortcutModel::data(const QModelIndex& index, int role) const
{
    if (!index.isValid() || index.row() >= rowCount())
        return {};
    if (role == Qt::DisplayRole || role == Qt::ToolTipRole)
        return cells(index.row())[size_t(index.column())];
    if (role == Qt::FontRole && index.column() == Keys && m_registry.isChanged(entry(index.row()))) {
        QFont font;
        font.setBold(true);
        return font;
    }
    return {};
}

QVariant ShortcutModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    switch (section) {
    case Name:
        return tr("Action");
    case Where:
        return tr("Where");
    case Keys:
        return tr("Keys");
    case Standard:
        return tr("Standard");
    default:
        return tr("Note");
    }
}

} // namespace qs

#include "moc_shortcut_model.cpp"
