// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/draft.h"
#include "core/quant/ranges/ranges.h"
#include "core/quant/read_back/quantized_file.h"
#include "core/quant/recipe/recipe.h"

namespace qs {

/// How a quantized file was made, as far as it shows.
struct ReadBack {
    Recipe recipe;
    /// Of the static forms: quantizing with them gives the file's scales and zero points. A range that no float numbers
    /// give exactly is an override of the recipe instead.
    Ranges ranges;
    std::vector<std::string> undetermined; ///< what the file does not say, in sentences
    std::vector<std::string> otherwise; ///< of these, by which what the recipe makes is another model than the file
    /// Nodes and constants that the recipe and ranges make otherwise of the float model; nullopt: without one, and
    /// where the file has names of its own, that cannot be told.
    std::optional<size_t> differences;
    /// Quantizers, tensor by tensor, that come out otherwise than in the file (core/quant/read_back/
    /// quantizer_differences.h), whatever names it has; nullopt: no float model, another format than qdq, or not
    /// possible. 0: the same tensors with the same parameters, to the bit; codes may be others.
    std::optional<size_t> otherQuantizers;
    bool possible = true; ///< the recipe and ranges make a quantized model of the float model, where there is one
};

/// Reads the recipe and the ranges that a quantized model was made with: what its quantizers, codes and names show,
/// then whatever makes the float model come out closest to it. Without a float model the excluded nodes are those of
/// the file. `names` may be empty: names are then those of the float file, as ONNX Runtime and this program leave them.
/// Issue: the model is not quantized, a name of `names` is not in the float model.
Result<ReadBack> readBack(const std::shared_ptr<const Model>& quantized, const GraphDraft* floatModel = nullptr,
    const ValueNames& names = {});

} // namespace qs
