// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/data_source.h"
#include "core/engine/run/carry.h"
#include "core/prepare/known_inputs.h"
#include "core/quant/recipe/recipe.h"

namespace qs {

/// What a recipe says of a model's inputs (`fixed_inputs`, `fixed_shapes`). A value fills all elements; sizes that the
/// model leaves open are 1 then. Issues: what is no NAME=VALUE or NAME=2x3x4, names that no input has.
Result<KnownInputs> fixedInputs(const GraphPreparation& preparation, const Graph& graph);

/// What all samples have in common: sizes of inputs, and values of whole-number and bool inputs of at most 16 elements.
/// A carried input has the sizes of its first state. The data are given by the inputs of `dataGraph`, to which those of
/// `graph` belong by name, else by position.
Result<KnownInputs> commonInputs(
    const DataSource& data, const Graph& dataGraph, const Graph& graph, const CarryNames& carry);

/// The options that say the same: "--fix-input sr=16000 --fix-shape x=1x576", of those inputs alone.
std::string fixingOptions(const KnownInputs& known, const InputsBehind& only);

/// On each If that stays, and could be folded where all samples take the same branch, and on loops whose bodies hold
/// products: why these stay float, and which options quantize them.
Result<std::vector<std::string>> branchHints(
    const GraphDraft& prepared, const DataSource* data, const Graph& dataGraph, const CarryNames& carry);

} // namespace qs
