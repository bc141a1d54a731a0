// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/write/quantizer.h"

#include "core/ops/needed_values.h"
#include "core/quant/dynamic/dynamic.h"
#include "core/quant/model/complete_overrides.h"
#include "core/quant/model/load_warnings.h"
#include "core/quant/model/name_collisions.h"
#include "core/quant/model/node_order.h"
#include "core/quant/model/opsets.h"
#include "core/quant/model/removed_activations.h"
#include "core/quant/params/float8.h"
#include "core/quant/qdq/writer.h"
#include "core/quant/qoperator/builder.h"
#include "core/quant/recipe/op_types.h"
#include "core/quant/write/lost_scales.h"

#include <algorithm>
#include <unordered_set>

namespace qs {

namespace {

constexpr size_t kMostRenamings = 8; ///< rounds
constexpr const char* kProducer = "onnx.quantize 0.1.0"; ///< as ONNX Runtime's tools sign

bool usesTwoBits(const Recipe& recipe)
{
    const auto two = [](const QuantOverride& o) { return o.type && dtypeBits(*o.type) == 2; };
    return dtypeBits(recipe.activationType) == 2 || dtypeBits(recipe.weightType) == 2
        || std::ranges::any_of(recipe.tensors, [&](const auto& entry) {
               const TensorOverride& o = entry.second;
               return std::ranges::any_of(o.parts, two) || (o.convert && two(o.convert->to));
           });
}

/// A type that a recipe cannot ask for, as a damaged file may have it.
std::optional<DType> otherType(const Recipe& recipe)
{
    const auto isOther = [](DType type) { return nameIn(kCodeTypes, type).empty(); };
    std::vector<DType> asked { recipe.activationType, recipe.weightType };
    const auto add = [&](const QuantOverride& o) { asked.push_back(o.type.value_or(recipe.weightType)); };
    for (const auto& [name, o] : recipe.tensors) {
        std::ranges::for_each(o.parts, add);
        if (o.convert)
            add(o.convert->to);
    }
    const auto found = std::ranges::find_if(asked, isOther);
    return found == asked.end() ? std::nullopt : std::optional(*found);
}

/// Combinations that no runtime could run, and what cannot be done.
Status checkTypes(const Recipe& recipe)
{
    if (recipe.smoothQuant)
        return badUse("SmoothQuant changes the float model before it is quantized, which is not done here",
            "leave smooth_quant out of the recipe");
    if (recipe.completeOverrides && recipe.format != RecipeFormat::Qdq)
        return badUse("overrides are completed by conversions, which the qdq format alone has",
            "use the qdq format, or leave complete_overrides out");
    if (const auto type = otherType(recipe))
        return badUse("no recipe can ask for codes of the type " + std::string(dtypeName(*type)),
            "use int8, uint8, int16, uint16, int4, uint4 or float8e4m3fn");
    QS_CHECK(checkFloat8(recipe));
    if (recipe.format != RecipeFormat::WeightOnly && usesTwoBits(recipe))
        return badUse("2 bits are possible for weights in blocks only", "use the weight-only format, or wider types");
    if (recipe.format == RecipeFormat::Dynamic && dtypeBits(recipe.weightType) != 8)
        return badUse("the dynamic format multiplies codes of 8 bits", "use int8 or uint8 weights, or another format");
    if (!isStatic(recipe.format))
        return {};
    const auto bits = [](DType type) { return dtypeBits(type); };
    if (recipe.activationType == DType::Int8 && recipe.weightType == DType::UInt8)
        return badUse(
            "int8 activations cannot be combined with uint8 weights", "use uint8 activations or int8 weights");
    if (recipe.format == RecipeFormat::QOperator && (bits(recipe.activationType) != 8 || bits(recipe.weightType) != 8))
        return badUse("operators on codes need 8-bit types", "use the qdq format");
    if (bits(recipe.activationType) < 8)
        return badUse("activations cannot have 4 bits", "use int8, uint8, int16 or uint16");
    return {};
}

/// Bodies of If, Loop and Scan hold nodes of the types that are quantized.
bool bodiesHold(const Attributes& attributes, const std::vector<std::string>& types)
{
    return std::ranges::any_of(subgraphs(attributes), [&](const auto& body) {
        return std::ranges::any_of(body->nodes(), [&](const Node& node) {
            return std::ranges::find(types, node.opType) != types.end() || bodiesHold(node.attributes, types);
        });
    });
}

/// Recipe::subgraphs where the format does not enter bodies: ONNX Runtime's Q/DQ tools leave them as they are.
Status checkBodies(const GraphDraft& draft, const Recipe& recipe, std::vector<std::string>& notes)
{
    const auto& types = opTypesOf(recipe);
    if (!recipe.subgraphs || entersSubgraphs(recipe)
        || std::ranges::none_of(draft.nodes, [&](const DraftNode& n) { return bodiesHold(n.attributes, types); }))
        return {};
    const std::string why = "no ranges are found for their values",
                      remedy = "use the dynamic format, or fold an If whose condition is fixed (--fix-input)";
    if (recipe.format != RecipeFormat::Qdq)
        return badUse("nodes in the bodies of If, Loop and Scan can be quantized in the dynamic format alone: " + why,
            remedy + ", or leave EnableSubgraph (--enable-subgraph, subgraphs in the recipe) out");
    notes.push_back("nodes in the bodies of If, Loop and Scan stay float in the qdq format: " + why + "; " + remedy);
    return {};
}

Status quantizeQdq(FloatModel& model, const Recipe& recipe)
{
    editRangesFor(model, recipe);
    const QdqMarks marks = markTensors(model, recipe);
    QS_TRY(const QdqParameters parameters, QdqParameters::make(marks));
    return writeQdq(model, marks, parameters);
}

/// No constant of the file shows it.
void warnOfHalves(FloatModel& model)
{
    const auto isHalf = [&](const DraftNode& node) {
        return node.is("DynamicQuantizeLinear") && model.realType(node.inputs.front()) == DType::Float16;
    };
    const auto node = std::ranges::find_if(model.draft.nodes, isHalf);
    if (node != model.draft.nodes.end())
        model.warnings.push_back("ONNX Runtime will not load this file: '" + node->name
            + "' reads float16 values, which DynamicQuantizeLinear does not take; use the qdq format");
}

} // namespace

Status checkIsFloat(const GraphDraft& draft)
{
    for (const DraftNode& node : draft.nodes) {
        const std::string& type = node.opType;
        if (type == "QuantizeLinear" || type == "DequantizeLinear" || type == "DynamicQuantizeLinear"
            || type.starts_with("QLinear") || type == "MatMulNBits" || type == "MatMulInteger" || type == "ConvInteger"
            || type == "QGemm")
            return Issue { IssueKind::BadInput, "is quantized already", draft.source().path, node.name, {},
                "give the float model" };
    }
    return {};
}

namespace {

Result<QuantizedDraft> quantizeOnce(
    const GraphDraft& draft, const Recipe& given, const Ranges& ranges, const QuantizerHelp& help)
{
    QS_TRY(FloatModel model, FloatModel::make(draft, given, ranges));
    QS_TRY(const Recipe recipe, withCompleteOverrides(model, given));
    if (help.constants)
        model.constants = help.constants;
    model.kept = help.kept;
    switch (recipe.format) {
    case RecipeFormat::Qdq:
        QS_CHECK(quantizeQdq(model, recipe));
        break;
    case RecipeFormat::QOperator:
        editRangesFor(model, recipe);
        QS_CHECK(quantizeQOperator(model, recipe));
        break;
    case RecipeFormat::Dynamic:
        QS_CHECK(quantizeDynamic(model, recipe));
        warnOfHalves(model);
        break;
    case RecipeFormat::WeightOnly:
        QS_CHECK(quantizeWeightsOnly(model, recipe, { help.blocks, help.made.get(), help.threads }));
        return QuantizedDraft { std::move(model.draft), std::move(model.warnings), std::move(model.left), {} };
    }
    warnOfLost(model);
    warnOfLostScales(model, draft, recipe);
    sortAsOnnxRuntime(model.draft);
    model.draft.producer = kProducer;
    return QuantizedDraft { std::move(model.draft), std::move(model.warnings), std::move(model.left),
        std::move(model.codes) };
}

template <class ByName> void rename(ByName& byName, const std::string& from, const std::string& to)
{
    if (auto entry = byName.extract(from)) {
        entry.key() = to;
        byName.insert(std::move(entry));
    }
}

/// Tensors of the float model get other names, and what is known by the old ones goes with them.
Status giveWay(GraphDraft& draft, Recipe& recipe, Ranges& ranges, QuantizerHelp& help,
    const std::vector<std::string>& taken, std::vector<std::string>& notes)
{
    auto kept = help.kept ? std::make_shared<KeptCodes>(*help.kept) : nullptr;
    for (const std::string& name : taken) {
        const std::string free = freeName(draft, name);
        QS_CHECK(renameTensor(draft, name, free));
        rename(ranges.tensors, name, free);
        rename(recipe.tensors, name, free);
        if (kept)
            rename(*kept, name, free);
        std::ranges::replace(recipe.placement.tensors, name, free);
        notes.push_back("'" + name + "' of the float model is called '" + free
            + "' now, since the quantizer gives its name to a tensor of its own");
    }
    help.kept = std::move(kept);
    return {};
}

} // namespace

Result<QuantizedDraft> quantizeDraft(
    GraphDraft draft, const Recipe& given, const Ranges& givenRanges, const QuantizerHelp& givenHelp)
{
    QS_CHECK(checkTypes(given));
    QS_CHECK(checkIsFloat(draft));
    QS_CHECK(checkNeededValues(draft));
    std::vector<std::string> notes;
    QS_CHECK(checkBodies(draft, given, notes));
    if (const auto version = raisedOpset(draft, given))
        QS_CHECK(raiseOpset(draft, *version));
    Recipe recipe = given;
    if (recipe.format == RecipeFormat::Dynamic)
        QS_CHECK(splitGemms(draft, recipe));
    Ranges ranges = givenRanges;
    QuantizerHelp help = givenHelp;
    std::string last;
    for (size_t round = 0; round < kMostRenamings; ++round) {
        QS_TRY(QuantizedDraft made, quantizeOnce(draft, recipe, ranges, help));
        const std::vector<std::string> taken = takenNames(draft, made.draft, help.kept.get());
        const bool doubles = round + 1 < kMostRenamings && renameDoubleNodes(draft, made.draft) > 0;
        if (!doubles && taken.empty()) {
            notes.insert(notes.end(), made.warnings.begin(), made.warnings.end());
            made.warnings = std::move(notes);
            const auto refused = loadWarnings(made.draft);
            made.warnings.insert(made.warnings.end(), refused.begin(), refused.end());
            return made;
        }
        QS_CHECK(giveWay(draft, recipe, ranges, help, taken, notes));
        last = taken.empty() ? last : taken.front();
    }
    return Issue { IssueKind::BadInput,
        "has a name that the quantizer gives to a tensor of its own, and others like it", draft.source().path, {}, last,
        "call them otherwise in the float model" };
}

std::vector<std::string> calibratedTensors(const FloatModel& model, const Recipe& recipe)
{
    const auto& types = opTypesOf(recipe);
    std::vector<std::string> tensors;
    std::unordered_set<std::string> seen;
    for (const DraftNode& node : model.draft.nodes) {
        if (std::ranges::find(types, node.opType) == types.end())
            continue;
        const auto add = [&](const std::string& name) {
            if (model.realType(name) != DType::Undefined && !model.draft.constant(name) && seen.insert(name).second)
                tensors.push_back(name);
        };
        std::ranges::for_each(node.inputs, add);
        std::ranges::for_each(node.outputs, add);
    }
    return tensors;
}

} // namespace qs
