// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/quant/ranges/ranges.h"
#include "core/tensor/dtype.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace qs {

class GraphDraft;
struct Recipe;

/// What to change about the recipe to mend what a finding tells.
enum class RemedyKind {
    None, ///< no recipe can: the file, the model or the data have to change
    Requantize, ///< quantize the float model anew: the file is not what its recipe would make
    Recalibrate, ///< all activations with the present data, as one step
    SetRange, ///< of one activation
    PerChannel, ///< one constant gets a scale a channel; without a tensor: all weights
    ReduceRange, ///< weights of 7 bits
    ExcludeNode, ///< one node stays float
    KeepExtremeConstants, ///< constants beyond any useful scale stay float
    UnsignedActivations, ///< uint8 in place of int8
    KeepActivations, ///< Relu and Clip stay where ranges do not do their work, and the range ends at their bounds
    AsymmetricActivations, ///< all of them; with a range: the tensor gets it, that of its data
    DynamicFormat, ///< ranges of activations from each sample while running
    EightBitWeight, ///< one constant becomes int8 per channel, in blocks where the recipe stores blocks; without a
                    ///< tensor: all weights become of `type`
    Equalize, ///< ranges of weights across layers, before all activations are calibrated anew
    FuseGemm, ///< a product and the sum behind it become one before quantizing; in a file: nothing between them
    Calibrate, ///< another calibrator finds the ranges of all activations
    ActivationType, ///< of all activations, whose ranges stay
    SmoothQuant, ///< large channels of activations move into the weights that read them, before calibrating anew
    StoreConstant, ///< a constant that is no codes gets the float model's values: of the file, a recipe has them so
    StaticFormat, ///< ranges of activations from data, once
    OpenClip, ///< a Clip on codes of the file lets these pass
};
std::string_view remedyKindName(RemedyKind kind); ///< "set_range"

/// A change of a recipe as a value: the window applies it as one step, the command line says the options for it.
struct Remedy {
    RemedyKind kind = RemedyKind::None;
    std::string node, tensor; ///< of the float file
    double low = 0, high = 0; ///< SetRange, AsymmetricActivations; KeepActivations: the bounds; OpenClip: codes
    int64_t axis = 0; ///< PerChannel, EightBitWeight
    Calibrator calibrator = Calibrator::MinMax; ///< Calibrate
    DType type = DType::UInt8; ///< ActivationType, EightBitWeight of all
    bool plainBlocks = false; ///< EightBitWeight of all: blocks by the default algorithm, as hqq has no 8 bits that run
    bool operator==(const Remedy&) const = default;
    bool ofAllWeights() const
    {
        return (kind == RemedyKind::PerChannel || kind == RemedyKind::EightBitWeight) && tensor.empty();
    }
};

/// The recipe with the remedy applied; the same one for what only a file has: None, StoreConstant and OpenClip.
Recipe withRemedy(Recipe recipe, const Remedy& remedy, const GraphDraft& floatModel);
Recipe withRemedies(Recipe recipe, std::span<const Remedy> remedies, const GraphDraft& floatModel);

/// Options of `quantscope-cli quantize` (or `compare FLOAT`) that do it, each said once; empty where one of them has
/// none. Those that name data come last and are `data`.
std::vector<std::string> remedyOptionList(std::span<const Remedy> remedies, const std::string& data = "--data DATA");
/// The same in one text.
std::string remedyOptions(std::span<const Remedy> remedies);
/// The model's opset has no scales along an axis, which ONNX Runtime would refuse: preparation has to raise it.
bool needsOpset(std::span<const Remedy> remedies, const GraphDraft& floatModel);
/// The option for one weight is one for all.
bool optionsDoMore(std::span<const Remedy> remedies);
/// Finds ranges anew, so that it takes data.
bool takesData(const Remedy& remedy);

} // namespace qs
