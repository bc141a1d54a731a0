// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/quant/recipe/recipe_options.h"

#include <CLI/CLI.hpp>

/// Options of the command line that the table of recipe options has a flag for.
namespace qs::cli {

/// What was given, by path; not yet checked.
using GivenFlags = std::map<std::string_view, RecipeValue>;

/// Those with one value, or those that list texts.
enum class FlagValues { One, List };
void addRecipeFlags(CLI::App& app, FlagValues values, GivenFlags& given);

/// Sets what was given. Issue: a name that is not known, a number that is not possible, an option of another format.
Status applyRecipeFlags(const GivenFlags& given, Recipe& recipe);

/// Of those given that nothing in the recipe reads: that they have no effect, and why.
std::vector<std::string> idleFlags(const GivenFlags& given, const Recipe& recipe);

/// The parts that stand between commas.
std::vector<std::string> commaList(const std::vector<std::string>& texts);
/// "a, b or c", with the last word given.
std::string listed(const std::vector<std::string>& names, const std::string& last);

} // namespace qs::cli
