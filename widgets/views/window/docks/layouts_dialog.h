// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/views/window/docks/kept_layouts.h"

#include <QDialog>

class QLabel;
class QListWidget;
class QListWidgetItem;
class QPushButton;

namespace qs {

/// Renames, orders and deletes the user's layouts. Nothing is changed before it is accepted.
class LayoutsDialog : public QDialog {
    Q_OBJECT
public:
    explicit LayoutsDialog(KeptLayouts layouts, QWidget* parent);
    const KeptLayouts& layouts() const { return m_layouts; } ///< as they are to be
    QString nameNow(const QString& before) const; ///< of a layout that was called so; empty where it is deleted

private:
    void buildList();
    void takeName(QListWidgetItem* item);
    void move(int step);
    void remove();
    void refresh();

    KeptLayouts m_layouts; ///< one a row
    std::vector<QString> m_before; ///< what they were called
    QListWidget* m_list;
    QPushButton *m_up, *m_down, *m_rename, *m_delete;
    QLabel* m_problem;
};

} // namespace qs
