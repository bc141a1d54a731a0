// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/views/actions/action_registry.h"

#include <QAbstractTableModel>

namespace qs {

/// The actions of a registry, one a row, with their keys.
class ShortcutModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Name, Where, Keys, Standard, Note, kColumns };
    explicit ShortcutModel(ActionRegistry& registry, QObject* parent = nullptr);

    const ActionEntry& entry(int row) const { return m_registry.entries()[size_t(row)]; }
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override { return parent.isValid() ? 0 : kColumns; }
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    QString cell(const ActionEntry& entry, int column) const;
    QString conflict(const ActionEntry& entry) const; ///< empty: its keys do nothing else

    ActionRegistry& m_registry;
};

} // namespace qs
