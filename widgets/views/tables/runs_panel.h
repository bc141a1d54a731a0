// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/models/tables/run_model.h"
#include "widgets/session/session.h"
#include "widgets/views/base/panel.h"

class QAction;
class QLabel;
class QTreeView;

namespace qs {

/// The tree of runs with their numbers: the best is marked, any can be gone back to, any two are compared.
class RunsPanel : public Panel {
    Q_OBJECT
public:
    explicit RunsPanel(Session& session, QWidget* parent = nullptr);
    QTreeView* tree() const { return m_tree; }
    RunModel& model() { return m_model; }
    /// Text of what is compared below the tree.
    QString comparison() const;

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void buildTree();
    void buildActions();
    void fitColumns();
    void refresh();
    void refreshComparison();
    void showSideBySide();
    std::vector<RunId> chosen() const; ///< in the order of the tree

    Session& m_session;
    RunModel m_model;
    QTreeView* m_tree;
    QLabel* m_comparison;
    QAction* m_restore;
    QAction* m_sideBySide;
    QAction* m_remove;
};

} // namespace qs
