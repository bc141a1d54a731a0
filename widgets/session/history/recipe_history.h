// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/quant/recipe/recipe_state.h"
#include "widgets/models/recipe/recipe_edits.h"
#ifndef Q_MOC_RUN // moc cannot read what this includes
#include "core/match/alignment.h"
#endif

#include <QUndoStack>

namespace qs {

/// The recipe, the pairs made by hand, and every edit of them. The only thing that changes them is the undo stack.
class RecipeHistory : public RecipeEdits {
    Q_OBJECT
public:
    explicit RecipeHistory(QObject* parent = nullptr);
    ~RecipeHistory() override;

    const Recipe& recipe() const override { return m_recipe; }
    const Recipe& base() const override { return m_base.recipe; }
    ValueOrigin baseOrigin() const override { return m_base.origin; }
    bool editable() const override { return m_editable; }
    void apply(const QString& text, const Recipe& next, const QString& mergeKey = {}) override;

    const ManualLinks& links() const { return m_links; }
    /// As one step of undo; also where the recipe cannot be edited.
    void applyLinks(const QString& text, const ManualLinks& next);

    QUndoStack& stack() { return m_stack; }
    /// Begins anew from a base; the stack is empty then.
    void reset(const RecipeBase& base);
    /// Links that are saved; nothing can be undone.
    void resumeLinks(const ManualLinks& links);
    /// Goes on from a recipe that is saved: the base stays what reset goes back to, nothing can be undone.
    void resume(const Recipe& recipe);
    void setEditable(bool editable);
    /// Names the step that made the recipe; a step that took up another keeps its number. 0: the beginning.
    quint64 step() const;

signals:
    void edited(); ///< by a step, done or undone; before recipeChanged() and linksChanged()
    void linksChanged();

private:
    class Edit;
    void restart();
    void tell();
    void tellSince(const Recipe& recipe, const ManualLinks& links);

    QUndoStack m_stack;
    RecipeBase m_base;
    Recipe m_recipe, m_told; ///< now, and when recipeChanged() was last emitted
    ManualLinks m_links, m_toldLinks; ///< the same of linksChanged()
    bool m_editable = false;
    quint64 m_nextStep = 1;
};

} // namespace qs
