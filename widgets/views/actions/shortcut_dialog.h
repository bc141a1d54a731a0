// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/views/actions/shortcut_model.h"

#include <QDialog>

class QKeySequenceEdit;
class QLabel;
class QLineEdit;
class QPushButton;
class QSortFilterProxyModel;
class QTableView;

namespace qs {

/// All actions with their keys, which can be changed; a change holds at once and is remembered.
class ShortcutDialog : public QDialog {
    Q_OBJECT
public:
    explicit ShortcutDialog(ActionRegistry& registry, QWidget* parent = nullptr);

    QLineEdit* filter() const { return m_filter; }
    QKeySequenceEdit* filterKeys() const { return m_filterKeys; }
    QTableView* table() const { return m_table; }
    QKeySequenceEdit* keys() const { return m_keys; }
    QPushButton* button(const char* name) const; ///< "use", "add", "remove", "reset", "resetAll"
    QLabel* note() const { return m_note; }
    bool choose(const QString& id); ///< false: there is no such action in the list

private:
    void buildTable();
    bool eventFilter(QObject* watched, QEvent* event) override;
    void orderFocus();
    void chooseShown();
    QLayout* makeFilters();
    QLayout* makeEditors();
    QPushButton* addButton(QLayout* row, const char* name, const QString& text, void (ShortcutDialog::*pressed)());
    const ActionEntry* chosen() const;
    void refresh();
    void use();
    void add();
    void remove();
    void reset();
    void resetAll();
    void give(QList<QKeySequence> keys);

    ActionRegistry& m_registry;
    ShortcutModel* m_model;
    QSortFilterProxyModel* m_proxy;
    QLineEdit* m_filter;
    QKeySequenceEdit* m_filterKeys;
    QTableView* m_table;
    QKeySequenceEdit* m_keys;
    QLabel *m_chosenText, *m_note;
    QPushButton* m_close = nullptr;
};

} // namespace qs
