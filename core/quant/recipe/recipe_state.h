// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/quant/recipe/recipe.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace qs {

class GraphDraft;

/// Where a value of a recipe comes from.
enum class ValueOrigin {
    Default, ///< ONNX Runtime's default
    Preset, ///< what this program starts from
    Imported, ///< read out of the quantized file
    ByType, ///< of a node: its operator type decides
    ByPattern, ///< of a node: a pattern of names decides
    Override, ///< said of this very node, tensor or setting
};
std::string_view valueOriginName(ValueOrigin origin); ///< "default", "preset", "imported", "by type", ...

/// What a recipe is an edit of, and what that is.
struct RecipeBase {
    Recipe recipe;
    ValueOrigin origin = ValueOrigin::Preset; ///< Default, Preset or Imported
};

/// A node as recipes name it: one without a name goes by its first output's.
struct RecipeNode {
    std::string name;
    std::string opType;
    bool takenApart = false; ///< a Gemm of which the dynamic form makes a MatMul and an Add

    /// The type that recipes of this form choose it by.
    std::string chosenBy(RecipeFormat format) const
    {
        return takenApart && format == RecipeFormat::Dynamic ? "MatMul" : opType;
    }
    bool operator==(const RecipeNode&) const = default;
};
/// Nodes of a float model, in file order, without constants and quantizers: those of the prepared draft are what a
/// recipe's patterns are matched with.
std::vector<RecipeNode> recipeNodes(const GraphDraft& draft);

/// Whether a recipe quantizes a node, as far as types and names say, and what decides.
struct NodeState {
    bool quantized = false;
    ValueOrigin origin = ValueOrigin::Default;
    std::string by; ///< the type or pattern that decides
    bool ofFile = false; ///< the recipe does not quantize it and cannot say that the file it was read from does
    bool staysFloat = false; ///< the recipe quantizes it, and the model that was made leaves it in float all the same
    bool operator==(const NodeState&) const = default;
};
/// One a node. Patterns that match nothing are passed over.
std::vector<NodeState> nodeStates(const Recipe& recipe, const RecipeBase& base, std::span<const RecipeNode> nodes);

enum class TriState { None, Some, All };
/// How many of these (indices into `states`) are quantized; None for no node.
TriState triState(std::span<const NodeState> states, std::span<const size_t> members);

/// What a recipe says of one tensor; where it says something for each channel, the first. Empty where it says nothing.
QuantOverride firstPart(const Recipe& recipe, const std::string& tensor);

/// What is said of one tensor in particular: where each part comes from; nullopt where the defaults hold for it.
struct TensorOrigins {
    std::optional<ValueOrigin> type, range, scale, symmetric, reduceRange, axis, calibrator;
    bool any() const { return type || range || scale || symmetric || reduceRange || axis || calibrator; }
};
TensorOrigins tensorOrigins(const Recipe& recipe, const RecipeBase& base, const std::string& tensor);

} // namespace qs
