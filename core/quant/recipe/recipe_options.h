// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/quant/recipe/recipe_value.h"

/// Everything that is said about the members of a recipe, in one list. Reading and writing JSON, differences, keys, the
/// command line, the window's form and ONNX Runtime's script follow from it.
namespace qs {

/// What has to be done again when an option changes.
enum class RecipeStep {
    Observation, ///< the model is calibrated anew, and all that follows
    Ranges, ///< ranges are computed from what was observed
    RangesAndGraph,
    Graph, ///< the quantized graph is made, given the ranges
};

/// Numbers that are possible; infinity: no limit on that side.
struct Limits {
    double least = 0, most = 0;
};
bool within(Limits limits, const RecipeValue& value); ///< a value that is no number is
/// "must lie between 0 and 100"
std::string limitsText(Limits limits);

/// How ONNX Runtime's script says it: in `extra_options`, or as an argument of GPTQ's configuration.
struct OrtOption {
    std::string_view key {}; ///< empty: in no such way
    bool inverted = false; ///< its switch means the opposite
};

/// Option of the command line.
struct RecipeFlag {
    std::string_view name {}; ///< without dashes; empty: none. A switch has --no-name beside it
    std::string_view help {};
    int place = 0; ///< in the help; 0: after those that have one, as in the list
    std::string_view remedy {}; ///< what to do about a number that is not possible
    std::optional<int64_t> most {}; ///< largest number, where a file may say more
    std::span<const std::string_view> words {}; ///< a switch is given by these, for off and on
    bool byComma = false; ///< its texts are divided at commas, since none holds one
    /// Why it has no effect in this recipe; empty where it has one.
    std::string_view (*idle)(const Recipe&) = nullptr;
};

/// A value that the window offers. Texts of it and of RecipeLine are English; the window translates them.
struct RecipeChoice {
    std::variant<std::monostate, bool, int64_t, std::string_view> value;
    std::string_view text;
};
RecipeValue valueOf(const RecipeChoice& choice);

/// Line of the window's form.
struct RecipeLine {
    std::string_view title {}; ///< empty: none. What follows a colon belongs to the line above
    std::string_view toolTip {};
    int place = 0; ///< in the form, as in RecipeFlag
    std::span<const RecipeChoice> choices {}; ///< empty: a switch is off or on, a number is typed
    Limits limits {}; ///< of a number
    int decimals = 0;
    bool (*shown)(const Recipe&) = nullptr; ///< whether the rest of the recipe leaves it a meaning; null: always
    std::string_view section {}; ///< title above the line; empty: none
    bool (*sectionShown)(const Recipe&) = nullptr;
};

struct RecipeOption {
    std::string_view path; ///< in JSON: "calibration.percentile"
    /// Without get and set where it is a part with members of its own by name of a tensor or node, which only JSON has.
    Setting<Recipe> value {};
    RecipeStep step = RecipeStep::Graph;
    std::optional<Limits> limits {};
    OrtOption ort {};
    RecipeFlag flag {};
    RecipeLine line {};
    /// Last part of the path.
    constexpr std::string_view key() const { return path.substr(path.rfind('.') + 1); }
};

/// All of them, in JSON's order: those of one section ("calibration.") stand together.
std::span<const RecipeOption> recipeOptions();
std::span<const RecipeOption> recipeOptions(std::string_view section);
/// Those with a flag, in the order of the help.
std::vector<const RecipeOption*> recipeFlags();
/// Those with a line, in the order of the form.
std::vector<const RecipeOption*> recipeLines();

/// Options that switch preparation passes, whose names are their keys.
std::span<const RecipeOption> passOptions();
/// Names of those that are switched off.
std::vector<std::string> skippedPasses(const Recipe& recipe);

/// What is wrong with the numbers of a recipe, beginning with the path of the first wrong one; empty when nothing is.
std::string wrongNumbers(const Recipe& recipe);

} // namespace qs
