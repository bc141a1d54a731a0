// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/views/actions/action_registry.h"

#include <QAbstractTableModel>

#include <array>
#include <vector>

namespace qs {

/// The actions of a registry, one a row, with their keys.
class ShortcutModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Name, Where, Keys, Standard, Note, kColumns };
    explicit ShortcutModel(ActionRegistry& registry, QObject* parent = nullptr);

    const ActionEntry& entry(int row) const { return m_registry.entries()[size_t(row)]; }
    bool holds(int row, const QString& word) const; ///< in one of its cells
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override { return parent.isValid() ? 0 : kColumns; }
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    using Cells = std::array<QString, kColumns>;
    const Cells& cells(int row) const;
    QString cell(const ActionEntry& entry, int column) const;
    QString conflict(const ActionEntry& entry) const; ///< empty: its keys do nothing else

    ActionRegistry& m_registry;
    mutable std::vector<Cells> m_cells; ///< of all rows, since a filter reads them at every letter; none: not asked yet
};

} // namespace qs
