// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session/session.h"
#include "widgets/views/base/panel.h"
#include "widgets/views/graph/outline/outline_model.h"

class QTreeView;

namespace qs {

class GraphPanel;
class OutlineTree;
class RecipeView;

/// What a graph panel draws as a text to read and to walk through. Enter, or a click, selects; typing finds.
class OutlinePanel : public Panel {
    Q_OBJECT
public:
    OutlinePanel(Session& session, RecipeView& recipe, GraphPanel& graph, QWidget* parent = nullptr);
    QTreeView* tree() const;
    const OutlineModel& model() const { return m_model; }

private:
    void buildTree();
    void refresh();
    OutlineModel::Numbers numbers() const;
    void choose(const QModelIndex& index);
    void followSelection();

    Session& m_session;
    RecipeView& m_recipe;
    GraphPanel& m_graph;
    OutlineModel m_model;
    OutlineTree* m_tree;
    std::optional<uint32_t> m_followed; ///< box that was brought into sight last
};

} // namespace qs
