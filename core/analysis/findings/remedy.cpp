// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/findings/remedy.h"

#include "core/graph/draft.h"
#include "core/prepare/prepare.h"
#include "core/quant/recipe/recipe_edit.h"
#include "core/quant/recipe/recipe_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>
#include <vector>

namespace qs {

namespace {

constexpr std::array<std::string_view, 21> kRemedyNames { "none", "requantize", "recalibrate", "set_range",
    "per_channel", "reduce_range", "exclude_node", "keep_extreme_constants", "unsigned_activations", "keep_activations",
    "asymmetric_activations", "dynamic_format", "eight_bit_weight", "equalize", "fuse_gemm", "calibrate",
    "activation_type", "smooth_quant", "store_constant", "static_format", "open_clip" };

std::string shellQuoted(const std::string& text)
{
    std::string quoted = "'";
    for (const char c : text)
        quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
}

std::string rangeOption(const Remedy& remedy)
{
    return "--tensor-range " + shellQuoted(fmt::format("{}={}:{}", remedy.tensor, remedy.low, remedy.high));
}

/// Beside what else it changes.
bool givesRange(const Remedy& remedy)
{
    return (remedy.kind == RemedyKind::AsymmetricActivations || remedy.kind == RemedyKind::ExcludeNode)
        && remedy.low < remedy.high;
}

/// Parameters that a Constant makes for the node alone are quantized where the recipe has nodes of that type.
Recipe withNodeInFloat(Recipe recipe, const Remedy& remedy, const GraphDraft& floatModel)
{
    recipe = withExclusion(std::move(recipe), remedy.node, true);
    const bool constants = std::ranges::find(recipe.opTypes, "Constant") != recipe.opTypes.end();
    for (const DraftNode& made : floatModel.nodes) {
        if (!constants || !made.is("Constant") || !made.hasOutput(0))
            continue;
        const auto reads = [&](const DraftNode& n) { return std::ranges::count(n.inputs, made.outputs[0]) > 0; };
        const auto reader = std::ranges::find_if(floatModel.nodes, reads);
        if (reader != floatModel.nodes.end() && reader->name == remedy.node
            && std::ranges::count_if(floatModel.nodes, reads) == 1)
            recipe = withExclusion(std::move(recipe), made.name, true);
    }
    return givesRange(remedy) ? withRange(std::move(recipe), remedy.tensor, remedy.low, remedy.high) : recipe;
}

/// Ends of a range that the recipe itself gives are not clamped by the quantizer.
Recipe withActivations(Recipe recipe, const Remedy& remedy)
{
    recipe.exactActivations = true;
    const auto own = recipe.tensors.find(remedy.tensor);
    if (own == recipe.tensors.end())
        return recipe;
    for (QuantOverride& part : own->second.parts)
        for (std::optional<double>* end : { &part.lowest, &part.highest })
            if (*end)
                *end = std::clamp(**end, remedy.low, remedy.high);
    return recipe;
}

/// Of the preparation passes nothing is done yet: what each does is another matter.
Recipe withoutPasses(Recipe recipe)
{
    for (const RecipeOption& pass : passOptions())
        if (!recipe.preparation.enabled)
            pass.value.set(recipe, false);
    recipe.preparation.enabled = true;
    return recipe;
}

/// Preparation raises a model to the opset that knows scales along an axis.
Recipe thatLoads(Recipe recipe)
{
    recipe = withoutPasses(std::move(recipe));
    recipe.preparation.inferShapes = true;
    return recipe;
}

/// Of the preparation that pass alone is added.
Recipe withGemm(Recipe recipe, const GraphDraft& floatModel)
{
    const std::set<std::string> products = productsOfGemm(floatModel);
    for (const DraftNode& node : floatModel.nodes)
        for (size_t i = 0; node.is("Add") && i < 2; ++i)
            if (products.contains(node.inputs[i]) && floatModel.constant(node.inputs[1 - i]))
                for (const std::string& name : node.inputs) // what they have of their own ends with them
                    recipe.tensors.erase(name);
    recipe = withoutPasses(std::move(recipe));
    recipe.preparation.fuseGemm = true;
    return recipe;
}

/// Activations have the type of codes that are found while running; what the dynamic form left in float, masks among
/// it, gets ranges now.
Recipe withStaticRanges(Recipe recipe)
{
    recipe.format = RecipeFormat::Qdq;
    recipe.activationType = DType::UInt8;
    recipe.keepExtremeConstants = true;
    return recipe;
}

std::string optionOf(const Remedy& remedy)
{
    switch (remedy.kind) {
    case RemedyKind::SetRange:
        return rangeOption(remedy);
    case RemedyKind::PerChannel:
        return "--per-channel";
    case RemedyKind::EightBitWeight:
        return remedy.ofAllWeights()
            ? fmt::format("{}--weight-type {}", remedy.plainBlocks ? "--format weight-only --algorithm default " : "",
                nameIn(kCodeTypes, remedy.type))
            : "";
    case RemedyKind::ReduceRange:
        return "--reduce-range";
    case RemedyKind::ExcludeNode:
        return "--exclude " + shellQuoted(remedy.node);
    case RemedyKind::KeepExtremeConstants:
        return "--keep-extreme-constants";
    case RemedyKind::UnsignedActivations:
        return "--activation-type uint8";
    case RemedyKind::KeepActivations:
        return "--exact-activations";
    case RemedyKind::AsymmetricActivations:
        return "--no-symmetric-activations";
    case RemedyKind::DynamicFormat:
        return "--format dynamic";
    case RemedyKind::StaticFormat:
        return "--format qdq --activation-type uint8 --keep-extreme-constants";
    case RemedyKind::Equalize:
        return "--equalize";
    case RemedyKind::SmoothQuant:
        return "--smooth-quant";
    case RemedyKind::FuseGemm:
        return "--preparation +fuse_gemm";
    case RemedyKind::Calibrate:
        return fmt::format("--method {}", nameIn(kCalibrators, remedy.calibrator));
    case RemedyKind::ActivationType:
        return fmt::format("--activation-type {}", nameIn(kCodeTypes, remedy.type));
    default:
        return {};
    }
}

/// A range that stays symmetric, the recipe's own or what a calibrator finds around zero, would stay as wide as it is.
Recipe asymmetric(Recipe recipe, const Remedy& remedy)
{
    recipe.symmetricActivations = false;
    if (!givesRange(remedy))
        return recipe;
    recipe = withSymmetry(std::move(recipe), remedy.tensor, std::nullopt);
    return withRange(std::move(recipe), remedy.tensor, remedy.low, remedy.high);
}

/// No kernel of ONNX Runtime's has 8 bits with the real zero points of hqq.
Recipe withWholeZeroPoints(Recipe recipe)
{
    if (recipe.format == RecipeFormat::WeightOnly && recipe.weightOnly.algorithm == WeightOnlyAlgorithm::Hqq)
        recipe.weightOnly.algorithm = WeightOnlyAlgorithm::Default;
    return recipe;
}

Recipe withEightBits(Recipe recipe, const Remedy& remedy)
{
    recipe = withWholeZeroPoints(std::move(recipe));
    if (recipe.format == RecipeFormat::WeightOnly) {
        recipe.weightOnly.nodes[remedy.node].type = isSigned(recipe.weightType) ? DType::Int8 : DType::UInt8;
        return recipe;
    }
    recipe = withTensorType(std::move(recipe), remedy.tensor, DType::Int8);
    return withChannelAxis(std::move(recipe), remedy.tensor, remedy.axis);
}

} // namespace

std::string_view remedyKindName(RemedyKind kind) { return kRemedyNames[static_cast<size_t>(kind)]; }

Recipe withRemedy(Recipe recipe, const Remedy& remedy, const GraphDraft& floatModel)
{
    switch (remedy.kind) {
    case RemedyKind::None:
    case RemedyKind::StoreConstant:
    case RemedyKind::OpenClip:
        break;
    case RemedyKind::Requantize:
        return recomputedCodes(std::move(recipe));
    case RemedyKind::Recalibrate:
        return recalibrated(std::move(recipe), floatModel);
    case RemedyKind::SetRange:
        return withRange(std::move(recipe), remedy.tensor, remedy.low, remedy.high);
    case RemedyKind::PerChannel:
        if (!remedy.ofAllWeights())
            return withChannelAxis(std::move(recipe), remedy.tensor, remedy.axis);
        recipe = withoutOwn(std::move(recipe), floatModel, "per_channel");
        recipe.perChannel = true;
        break;
    case RemedyKind::ReduceRange:
        return withReducedWeights(std::move(recipe), floatModel);
    case RemedyKind::ExcludeNode:
        return withNodeInFloat(std::move(recipe), remedy, floatModel);
    case RemedyKind::KeepExtremeConstants:
        recipe.keepExtremeConstants = true;
        break;
    case RemedyKind::UnsignedActivations:
        return withActivationType(std::move(recipe), floatModel, DType::UInt8);
    case RemedyKind::KeepActivations:
        return withActivations(std::move(recipe), remedy);
    case RemedyKind::AsymmetricActivations:
        return asymmetric(withoutOwn(std::move(recipe), floatModel, "symmetric_activations"), remedy);
    case RemedyKind::DynamicFormat:
        recipe.format = RecipeFormat::Dynamic;
        break;
    case RemedyKind::StaticFormat:
        return withStaticRanges(std::move(recipe));
    case RemedyKind::EightBitWeight:
        if (!remedy.ofAllWeights())
            return withEightBits(std::move(recipe), remedy);
        return withWeightType(withWholeZeroPoints(std::move(recipe)), floatModel, remedy.type);
    case RemedyKind::Equalize:
        recipe = recalibrated(std::move(recipe), floatModel); // activations are others then
        recipe.corrections.equalize = true;
        break;
    case RemedyKind::SmoothQuant:
        recipe = recalibrated(std::move(recipe), floatModel);
        recipe.smoothQuant = true;
        break;
    case RemedyKind::FuseGemm:
        return withGemm(std::move(recipe), floatModel);
    case RemedyKind::Calibrate:
        recipe = recalibrated(std::move(recipe), floatModel);
        recipe.calibration = {};
        recipe.calibration.kind = remedy.calibrator;
        break;
    case RemedyKind::ActivationType:
        return withActivationType(std::move(recipe), floatModel, remedy.type);
    }
    return recipe;
}

Recipe withRemedies(Recipe recipe, std::span<const Remedy> remedies, const GraphDraft& floatModel)
{
    for (const Remedy& remedy : remedies)
        recipe = withRemedy(std::move(recipe), remedy, floatModel);
    return needsOpset(remedies, floatModel) ? thatLoads(std::move(recipe)) : recipe;
}

bool needsOpset(std::span<const Remedy> remedies, const GraphDraft& floatModel)
{
    constexpr int64_t kScalesOfChannels = 13; // of ai.onnx
    const auto opset = floatModel.opsets.find("");
    const auto channels = [](const Remedy& r) {
        return r.kind == RemedyKind::PerChannel || (r.kind == RemedyKind::EightBitWeight && !r.ofAllWeights());
    };
    return opset != floatModel.opsets.end() && opset->second < kScalesOfChannels
        && std::ranges::any_of(remedies, channels);
}

bool optionsDoMore(std::span<const Remedy> remedies)
{
    return std::ranges::any_of(
        remedies, [](const Remedy& r) { return r.kind == RemedyKind::PerChannel && !r.ofAllWeights(); });
}

bool takesData(const Remedy& remedy)
{
    constexpr std::array kKinds { RemedyKind::Recalibrate, RemedyKind::Equalize, RemedyKind::SmoothQuant,
        RemedyKind::Calibrate, RemedyKind::StaticFormat };
    return std::ranges::find(kKinds, remedy.kind) != kKinds.end();
}

std::vector<std::string> remedyOptionList(std::span<const Remedy> remedies, const std::string& data)
{
    std::vector<std::string> options;
    for (const Remedy& remedy : remedies) {
        if (remedy.kind == RemedyKind::None || remedy.kind == RemedyKind::Recalibrate)
            continue;
        if (optionOf(remedy).empty())
            return {}; // a part of them would do something else
        std::vector<std::string> own { optionOf(remedy) };
        if (givesRange(remedy)) // the one that a file has is symmetric, too, or that of a join
            own.push_back(rangeOption(remedy));
        for (std::string& option : own)
            if (std::ranges::find(options, option) == options.end())
                options.push_back(std::move(option));
    }
    if (std::ranges::any_of(remedies, takesData))
        options.push_back(data);
    return options;
}

std::string remedyOptions(std::span<const Remedy> remedies)
{
    return fmt::format("{}", fmt::join(remedyOptionList(remedies), " "));
}

} // namespace qs
