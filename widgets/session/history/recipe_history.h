// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/quant/recipe/recipe_state.h"
#include "widgets/models/recipe/recipe_edits.h"
#ifndef Q_MOC_RUN // moc cannot read what this includes
#include "core/project/files/saved_steps.h"
#endif

#include <QUndoStack>

namespace qs {

/// The recipe, the pairs made by hand, and every edit of them. The only thing that changes them is the undo stack.
class RecipeHistory : public RecipeEdits {
    Q_OBJECT
public:
    explicit RecipeHistory(QObject* parent = nullptr);
    ~RecipeHistory() override;

    const Recipe& recipe() const override { return m_now->recipe; }
    const Recipe& base() const override { return m_base.recipe; }
    ValueOrigin baseOrigin() const override { return m_base.origin; }
    bool editable() const override { return m_editable; }
    void apply(const QString& text, const Recipe& next, const QString& mergeKey = {}) override;

    const ManualLinks& links() const { return m_now->links; }
    /// As one step of undo; also where the recipe cannot be edited.
    void applyLinks(const QString& text, const ManualLinks& next);

    QUndoStack& stack() { return m_stack; }
    /// Begins anew from a base; the stack is empty then.
    void reset(const RecipeBase& base);
    /// Links that are saved; nothing can be undone.
    void resumeLinks(const ManualLinks& links);
    /// Goes on from a recipe that is saved: the base stays what reset goes back to, nothing can be undone.
    void resume(const Recipe& recipe);
    /// All steps, done and undone; their states are shared, not copied.
    SavedSteps steps() const;
    /// Takes up steps that were kept, in place of those there are. Nothing happens where they do not lead to what is
    /// there now.
    void resumeSteps(const SavedSteps& steps);
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
    void tellSince(const WorkStatePtr& before);

    QUndoStack m_stack;
    RecipeBase m_base;
    WorkStatePtr m_now, m_told; ///< and when recipeChanged() or linksChanged() was last emitted
    bool m_editable = false, m_resuming = false;
    quint64 m_nextStep = 1;
};

} // namespace qs
