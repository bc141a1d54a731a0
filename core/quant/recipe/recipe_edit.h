// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/quant/ranges/ranges.h"
#include "core/quant/recipe/recipe_state.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Functions that make the next recipe of one: what an edit is, apart from undo, windows and runs.
namespace qs {

/// Quantizes these nodes (indices into `nodes`) or leaves them in float, and changes nothing about the others. Patterns
/// that say otherwise are replaced by the names of what else they match.
Recipe withNodes(Recipe recipe, std::span<const RecipeNode> nodes, std::span<const size_t> members, bool quantized);
/// All nodes of an operator type, also those that are still to come.
Recipe withType(Recipe recipe, std::span<const RecipeNode> nodes, const std::string& opType, bool quantized);
/// Leaves out what a pattern matches ("/block1/*", "re:^/head"), or takes that pattern back.
Recipe withExclusion(Recipe recipe, const std::string& pattern, bool excluded);

/// The override of a tensor, by ends of its real range. A scale, zero point and calibrator given before go.
Recipe withRange(Recipe recipe, const std::string& tensor, double lowest, double highest);
Recipe withScale(Recipe recipe, const std::string& tensor, double scale, int64_t zeroPoint);
Recipe withTensorType(Recipe recipe, const std::string& tensor, std::optional<DType> type);
Recipe withSymmetry(Recipe recipe, const std::string& tensor, std::optional<bool> symmetric);
/// Of a constant: one bit less for its codes.
Recipe withReduceRange(Recipe recipe, const std::string& tensor, std::optional<bool> reduceRange);
/// Of a constant: one scale for each index of that axis; nullopt: as the recipe says for all.
Recipe withChannelAxis(Recipe recipe, const std::string& tensor, std::optional<int64_t> axis);
/// Another calibrator finds the range of this activation; nullopt: that of the recipe does. What was given goes.
Recipe withCalibrator(Recipe recipe, const std::string& tensor, const std::optional<CalibratorOptions>& calibrator);
/// Of the weight in blocks of one node; without a field it is as the recipe says for all.
Recipe withBlocks(Recipe recipe, const std::string& node, const WeightOnlyNode& own);
/// What `base` says of the tensor, or nothing.
Recipe withoutOverride(Recipe recipe, const Recipe& base, const std::string& tensor);
/// No activation has a range or scale of its own: all follow from calibration. Types, symmetry and calibrators stay,
/// and what is said of the model's constants.
Recipe recalibrated(Recipe recipe, const GraphDraft& floatModel);
/// No constant has a type, scale, axis or codes of its own: all follow from its values and from what the recipe says
/// for all.
Recipe recomputedWeights(Recipe recipe, const GraphDraft& floatModel);
/// Weights have one bit less. What they have of their own that says otherwise (scales, zero points, ranges) goes; axes,
/// types and symmetry stay.
Recipe withReducedWeights(Recipe recipe, const GraphDraft& floatModel);
Recipe withReducedWeight(Recipe recipe, const std::string& weight);
/// Activations, or weights, have this type, also those with one of their own, and no second one. Ranges of activations
/// stay.
Recipe withActivationType(Recipe recipe, const GraphDraft& floatModel, DType type);
Recipe withWeightType(Recipe recipe, const GraphDraft& floatModel, DType type);
/// What single tensors say of a setting that is given for all of them goes, as where a file's recipe says what it had:
/// `path` as in recipeOptions(), of types, symmetry, granularity and reduced range. Ranges of activations stay.
Recipe withoutOwn(Recipe recipe, const GraphDraft& floatModel, std::string_view path);
/// No constant has the codes of a file: all are rounded from its values.
Recipe recomputedCodes(Recipe recipe);
/// Quantizers stand where the rules put them, not where a file has them.
Recipe placedByRules(Recipe recipe);
/// Tensors get the ranges that were found elsewhere (in a file), where they have no range, scale or calibrator of their
/// own.
Recipe withRanges(Recipe recipe, const Ranges& ranges);

} // namespace qs
