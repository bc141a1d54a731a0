// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session/recipe/recipe_view.h"
#include "widgets/views/base/panel.h"

class QCheckBox;
class QGridLayout;
class QLabel;
class QPushButton;

namespace qs {

class ExclusionTree;
class RecipeForm;

/// The recipe: settings for all nodes, which nodes are quantized, and what the shown run is worth against its parent.
class WhatIfPanel : public Panel {
    Q_OBJECT
public:
    WhatIfPanel(Session& session, RecipeView& recipe, QWidget* parent = nullptr);
    RecipeForm& form() const { return *m_form; }
    ExclusionTree& nodes() const { return *m_nodes; }
    QPushButton* runButton() const { return m_run; }

private:
    QWidget* makeFooter();
    void refresh();
    void refreshDifference();

    Session& m_session;
    RecipeView& m_recipe;
    RecipeForm* m_form;
    ExclusionTree* m_nodes;
    QGridLayout* m_difference;
    QLabel* m_why; ///< there is no recipe; in place of its parts
    QWidget* m_recipeParts = nullptr;
    QPushButton* m_run;
    QCheckBox* m_autoRun;
    QLabel* m_state;
};

} // namespace qs
