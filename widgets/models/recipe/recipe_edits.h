// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/quant/recipe/recipe_state.h"

#include <QObject>
#include <QString>

namespace qs {

/// The recipe as views see and change it; the session implements it with the undo stack.
class RecipeEdits : public QObject {
    Q_OBJECT
public:
    using QObject::QObject;

    /// What the quantized model is, or will be, made with.
    virtual const Recipe& recipe() const = 0;
    /// What "reset" goes back to: the preset, or what was read out of the quantized file that is open.
    virtual const Recipe& base() const = 0;
    virtual ValueOrigin baseOrigin() const { return ValueOrigin::Preset; } ///< Preset or Imported
    RecipeBase recipeBase() const { return { base(), baseOrigin() }; }
    /// There is a float model whose recipe can be changed.
    virtual bool editable() const = 0;

    /// Makes `next` the recipe, as one step of undo that is called `text` ("Exclude Conv_3"). Successive steps with
    /// the same mergeKey that is not empty become one (a drag). Nothing happens where `next` equals recipe().
    virtual void apply(const QString& text, const Recipe& next, const QString& mergeKey = {}) = 0;

signals:
    void recipeChanged();
};

} // namespace qs
