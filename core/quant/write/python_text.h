// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/quant/recipe/recipe_options.h"

/// Values as they are written in Python.
namespace qs {

std::string literal(const RecipeValue& value);
/// "QuantType.QInt8"
std::string quantType(DType type);
std::string numpyType(DType type);
/// The option's value in the recipe, as ONNX Runtime takes it.
std::string ortLiteral(const RecipeOption& option, const Recipe& recipe);

} // namespace qs
