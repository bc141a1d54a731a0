// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/models/recipe/node_tree_model.h"
#include "widgets/session/recipe/recipe_view.h"

#include <QWidget>

#include <set>
#include <vector>

class QComboBox;
class QHBoxLayout;
class QLabel;
class QLineEdit;
class QTreeView;

namespace qs {

/// Which nodes are quantized: a tree of check boxes by name scope or operator type, and patterns of names. Follows the
/// selection and sets it.
class ExclusionTree : public QWidget {
    Q_OBJECT
public:
    ExclusionTree(Session& session, RecipeView& recipe, QWidget* parent = nullptr);
    QTreeView* tree() const { return m_tree; }
    NodeTreeModel& model() { return m_model; }
    QLineEdit* pattern() const { return m_pattern; }
    const QLabel& matchText() const { return *m_matches; } ///< what the pattern that is typed matches
    /// Quantizes or excludes the branch that is current.
    void toggleCurrent();

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    QWidget* makeTitle();
    void buildTree();
    void refresh();
    std::set<std::vector<size_t>> openRows() const;
    void openAgain(const std::set<std::vector<size_t>>& open);
    void fitColumns();
    void refreshCount();
    void refreshNumbers();
    void refreshPatterns();
    std::vector<size_t> matches(const std::string& pattern) const;
    void showMatches();
    void excludePattern();
    void choose(const QModelIndex& index);
    void followSelection();

    Session& m_session;
    RecipeView& m_recipe;
    NodeTreeModel m_model;
    QLabel* m_count;
    QComboBox* m_grouping;
    QLineEdit* m_pattern;
    QLabel* m_matches;
    QWidget* m_patterns; ///< those in force, each with a button that takes it back
    QTreeView* m_tree;
};

} // namespace qs
