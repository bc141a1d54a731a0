// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session/recipe/recipe_view.h"

#include <QString>

namespace qs {

/// What goes on elsewhere with the recipe as it is now.
enum class HandOver {
    Qdq, ///< the quantized model with Q/DQ pairs
    QOperator, ///< the same with operators on codes
    Script, ///< Python for ONNX Runtime's quantizer
    ExcludeList, ///< names for nodes_to_exclude, one a line
    RecipeJson,
};

/// Writes it in a job; Session::written() says that it is there, Session::failed() what went wrong. The model is
/// quantized for it where the shown one was not made of this recipe and form.
void handOver(Session& session, const RecipeView& recipe, HandOver what, const QString& path);

/// Makes the recipe of a JSON file the current one, as one edit.
void readRecipeInto(Session& session, const QString& path);

} // namespace qs
