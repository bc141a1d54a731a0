// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session/recipe/recipe_view.h"

#include <QString>

namespace qs {

/// What goes on elsewhere with the recipe as it is now.
enum class HandOver {
    Model, ///< the quantized model in the recipe's own format
    Qdq, ///< with Q/DQ pairs, whatever the recipe's format
    QOperator, ///< with operators on codes, whatever the recipe's format
    Script, ///< Python for ONNX Runtime's quantizer
    ExcludeList, ///< names for nodes_to_exclude, one a line
    RecipeJson,
};

/// Q/DQ pairs and operators on codes are two forms of one model with static ranges. Of a recipe of another format they
/// are another model, with other numbers.
bool isAnotherModel(HandOver what, const Recipe& recipe);

/// Writes it in a job; Session::written() says that it is there, Session::failed() what went wrong. The model is
/// quantized for it where the shown one was not made of this recipe and form.
void handOver(Session& session, const RecipeView& recipe, HandOver what, const QString& path);

/// Makes the recipe of a JSON file the current one, as one edit.
void readRecipeInto(Session& session, const QString& path);

} // namespace qs
