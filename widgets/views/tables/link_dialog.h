// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/models/tables/match_model.h"

#include <QDialog>

class QLineEdit;
class QSortFilterProxyModel;
class QTreeView;

namespace qs {

/// The tensors of the other file that could be the partner of one, the likeliest first.
class LinkDialog : public QDialog {
    Q_OBJECT
public:
    LinkDialog(const Snapshot& snapshot, Side from, ValueId value, const QString& name, QWidget* parent = nullptr);
    QTreeView* list() const { return m_list; }

signals:
    void chosen(const QString& name);

private:
    void accept() override;

    QLineEdit* m_filter;
    QSortFilterProxyModel* m_shown;
    QTreeView* m_list;
};

} // namespace qs
