// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/quant/model/float_model.h"
#include "core/quant/params/kept_codes.h"
#include "core/quant/weight_only/weight_only.h"

namespace qs {

struct QuantizedDraft {
    GraphDraft draft;
    std::vector<std::string> warnings;
    std::vector<LeftInFloat> left; ///< nodes of the main graph that stayed as they were, and why
    CodeOrigins codes; ///< of constants with codes in QuantizerHelp::kept
};

/// What goes with the recipe.
struct QuantizerHelp {
    size_t threads = 1; ///< the result does not depend on it
    std::shared_ptr<QuantizedConstants> constants = {}; ///< of earlier quantizations of the same model; null = none
    std::shared_ptr<const KeptCodes> kept = {}; ///< those of Recipe::codes, for the static formats; null = none
    const ReadyBlocks* blocks = nullptr; ///< of weights, found with data (WeightOnlyAlgorithm::Gptq)
    std::shared_ptr<MadeConstants> made
        = {}; ///< weights in blocks of quantizations with the same `blocks`; null = none
};

/// An Issue when the model holds quantized operators.
Status checkIsFloat(const GraphDraft& draft);

/// The float model quantized as the recipe says: with the same ranges the tensors, names, scales, zero points and codes
/// are those of ONNX Runtime (Recipe::ortVersion). `ranges` are as calibrated; the dynamic and weight-only forms need
/// none. Issues: the model is quantized already, names that match nothing, ranges that are missing, what cannot be
/// represented.
Result<QuantizedDraft> quantizeDraft(
    GraphDraft draft, const Recipe& recipe, const Ranges& ranges, const QuantizerHelp& help = {});

/// Tensors whose ranges the recipe's form needs (ONNX Runtime calibrates these), in graph order.
std::vector<std::string> calibratedTensors(const FloatModel& model, const Recipe& recipe);

} // namespace qs
