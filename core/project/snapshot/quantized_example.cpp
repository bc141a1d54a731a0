// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/snapshot/quantized_example.h"

#include "core/graph/domains.h"
#include "core/project/quantize/constant_names.h"
#include "core/project/quantize/example_preparation.h"
#include "core/project/snapshot/loaded_model.h"
#include "core/project/snapshot/snapshot.h"
#include "core/qdq/name_tails.h"
#include "core/qdq/qlinear_signature.h"
#include "core/quant/recipe/recipe_edit.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <string_view>

namespace qs {

namespace {

/// An operator on codes leaves out the Relu or Clip behind it: its output is called as what these read.
ValueId beforeActivation(const Graph& f, const Graph& q, const Quantizer& quantizer, ValueId floatValue)
{
    const NodeId made = f.value(floatValue).producer;
    if (!quantizer.quantize.valid() || !made.valid())
        return floatValue;
    const Node &on = q.node(quantizer.quantize), &activation = f.node(made);
    const bool leftOut = !isQuantizeLinear(on) && (activation.is("Relu") || activation.is("Clip"))
        && floatOpType(on) != activation.opType && activation.hasInput(0);
    return leftOut ? activation.inputs[0] : floatValue;
}

std::vector<std::string_view> readersOf(const Graph& graph, ValueId value)
{
    std::vector<std::string_view> types;
    if (value.valid())
        for (const Use& use : graph.value(value).uses)
            types.push_back(graph.node(use.node).opType);
    return types;
}

/// How well a float value stands for what a quantizer is of, where several have the same elements (before and behind a
/// Reshape): whoever reads the quantizer reads it, too; the same operator makes both.
int fitOf(const Graph& f, const Graph& q, const Quantizer& quantizer, ValueId floatValue)
{
    const auto theirs = readersOf(q, quantizer.dequantized), ours = readersOf(f, floatValue);
    const bool read = std::ranges::any_of(theirs, [&](auto type) { return std::ranges::count(ours, type) > 0; });
    const auto maker = [](const Graph& graph, ValueId value) {
        const NodeId id = value.valid() ? graph.value(value).producer : NodeId();
        return id.valid() ? std::string_view(graph.node(id).opType) : std::string_view();
    };
    const std::string_view made = maker(q, quantizer.real);
    return 2 * int(read) + int(!made.empty() && made == maker(f, floatValue));
}

/// Float names of values that the quantized file calls otherwise.
ValueNames floatNames(const LoadedModel& floatModel, const LoadedModel& quantized, const Alignment& alignment)
{
    ValueNames names;
    const Graph &f = floatModel.graph(), &q = quantized.graph();
    const auto nameAll = [&](uint32_t index, ValueId floatValue) {
        const Quantizer& quantizer = quantized.quant->quantizers()[index];
        const ValueId named = beforeActivation(f, q, quantizer, floatValue);
        for (const ValueId id : { quantizer.real, quantizer.codes, quantizer.dequantized })
            if (id.valid())
                names.try_emplace(q.value(id).name, f.value(named).name);
    };
    for (const WeightPair& weight : alignment.weights)
        nameAll(weight.quantizer, weight.floatValue);
    // What a quantizer is of comes before other values that are the same number there.
    std::map<uint32_t, std::pair<int, ValueId>> best;
    for (const ValuePair& pair : alignment.values)
        if (pair.quantizer) {
            const int fit = fitOf(f, q, quantized.quant->quantizers()[*pair.quantizer], pair.floatValue);
            const auto [known, isNew] = best.try_emplace(*pair.quantizer, fit, pair.floatValue);
            if (!isNew && fit > known->second.first)
                known->second = { fit, pair.floatValue };
        }
    for (const auto& [quantizer, value] : best)
        nameAll(quantizer, value.second);
    for (const ValuePair& pair : alignment.values)
        names.try_emplace(q.value(pair.quantValue).name, f.value(pair.floatValue).name);
    return names;
}

/// A weight is called in the quantized file as another one is in the float file: converters number constants anew.
bool namesMislead(const LoadedModel& f, const LoadedModel& q, const Alignment& alignment)
{
    return std::ranges::any_of(alignment.weights, [&](const WeightPair& weight) {
        const ValueId codes = q.quant->quantizers()[weight.quantizer].codes;
        std::string_view name = codes.valid() ? std::string_view(q.graph().value(codes).name) : std::string_view();
        if (name.ends_with(tails::kCodes))
            name.remove_suffix(std::string_view(tails::kCodes).size());
        const ValueId namesake = f.graph().findValue(name);
        const Tensor* called = namesake.valid() ? f.plan->constant(namesake) : nullptr;
        const Tensor* own = f.plan->constant(weight.floatValue);
        return called && own && called != own && !std::ranges::equal(called->bytes(), own->bytes());
    });
}

/// Most activations that are quantized have names that the float file does not have: it is another export of the
/// network than the one that was quantized.
bool namesAreForeign(const LoadedModel& f, const LoadedModel& q)
{
    size_t activations = 0, foreign = 0;
    for (const auto& [name, tensor] : QuantizedFile::read(q.model, {}).tensors) {
        if (tensor.constant)
            continue;
        ++activations;
        foreign += !f.graph().findValue(name).valid();
    }
    return 2 * foreign > activations;
}

/// Nothing where the names tell it better.
std::optional<ReadBack> readByPairs(
    const LoadedModel& f, const LoadedModel& q, const Alignment& alignment, bool usualNames)
{
    if (usualNames && !namesMislead(f, q, alignment) && !namesAreForeign(f, q))
        return {};
    GraphDraft draft(f.model);
    const ValueNames names = floatNames(f, q, alignment);
    auto back = readBack(q.model, &draft, names);
    const auto others = [](const ReadBack& b) { return b.possible ? b.otherQuantizers.value_or(0) : SIZE_MAX; };
    if (!back.ok() || others(*back) == 0)
        return back.ok() ? std::optional(std::move(back).value()) : std::nullopt;
    if (const auto as = preparedAs(QuantizedFile::read(q.model, {}), draft)) { // weights that other nodes make, say
        auto prepared = readBack(q.model, &as->draft, as->makesNames() ? ValueNames {} : names);
        if (prepared.ok() && others(*prepared) < others(*back)) {
            back = std::move(prepared);
            back->recipe = withPreparation(std::move(back->recipe), *as);
        }
    }
    return back.ok() ? std::optional(std::move(back).value()) : std::nullopt;
}

/// Whether the file's names are as quantizers leave them; nothing where the files cannot be paired, or need not be.
using ByPairs = std::function<std::optional<ReadBack>(bool usualNames)>;

Result<ReadBack> readClosest(const std::shared_ptr<const Model>& floatModel,
    const std::shared_ptr<const Model>& quantized, const ByPairs& byPairs)
{
    GraphDraft draft(floatModel);
    auto plain = readBack(quantized, &draft);
    if (plain && plain->differences == 0)
        return plain;
    auto closest = plain;
    if (auto paired = plain ? byPairs(plain->differences.has_value()) : std::nullopt) {
        if (paired->possible && paired->differences.value_or(0) == 0)
            return *std::move(paired); // names that mislead are nothing to count by
        if (!plain->differences || (paired->differences && *paired->differences < *plain->differences))
            closest = *std::move(paired);
    }
    const auto isCloser = [&](const Result<ReadBack>& back) {
        return back && back->differences
            && (!closest || !closest->differences || *back->differences < *closest->differences);
    };
    const QuantizedFile file = QuantizedFile::read(quantized, {});
    QS_TRY(const ExamplePreparation as, preparedAs(file, draft));
    const auto prepared
        = [&](Recipe recipe) { return as.changes() > 0 ? withPreparation(std::move(recipe), as) : std::move(recipe); };
    if (as.changes() > 0)
        if (auto back = readBack(quantized, &as.draft); isCloser(back)) {
            back->recipe = prepared(std::move(back->recipe));
            closest = std::move(back);
        }
    if (const auto named = constantsNamedAsIn(file, as.draft))
        if (auto back = readBack(quantized, &named->draft); isCloser(back)) {
            back->recipe = prepared(inOwnNames(std::move(back->recipe), named->own));
            closest = std::move(back);
        }
    return closest;
}

} // namespace

bool recipesKeepBlocks(const LoadedModel& quantized)
{
    const auto kept = [&](const Quantizer& q) {
        const auto& uses = quantized.graph().value(q.codes).uses;
        return quantized.quant->form() == QuantForm::WeightOnly && std::ranges::none_of(uses, [&](const Use& use) {
            return quantized.graph().node(use.node).is("QMoE", kMicrosoftDomain);
        });
    };
    return std::ranges::all_of(quantized.quant->quantizers(),
        [&](const Quantizer& q) { return q.role != QuantRole::Weight || !q.logicalCodes.valid() || kept(q); });
}

Result<ReadBack> readExample(
    const std::shared_ptr<const Model>& floatModel, const std::shared_ptr<const Model>& quantized)
{
    return readClosest(floatModel, quantized, [&](bool usualNames) -> std::optional<ReadBack> {
        const LoadedModel f = loadedModel(floatModel), q = loadedModel(quantized);
        const auto alignment = align(*f.plan, *q.plan, *q.quant, {});
        return alignment.ok() && !alignment->strangers ? readByPairs(f, q, *alignment, usualNames) : std::nullopt;
    });
}

Result<ReadBack> readExample(const Snapshot& s)
{
    if (s.quantModel->fitted && !s.quantModel->fitted->empty()) { // a recipe is read of what the file takes and gives
        GraphDraft draft(s.quantModel->model);
        for (const FittedInput& fitted : *s.quantModel->fitted)
            restore(draft, fitted);
        QS_TRY(const auto written, draft.build());
        return readExample(s.floatModel->model, written);
    }
    if (!s.alignment)
        return readExample(s.floatModel->model, s.quantModel->model);
    return readClosest(s.floatModel->model, s.quantModel->model,
        [&](bool usualNames) { return readByPairs(*s.floatModel, *s.quantModel, *s.alignment, usualNames); });
}

bool recipeMakesFile(const Snapshot& s)
{
    constexpr size_t kFew = 10; // one of so many
    if (s.recipeMakes)
        return *s.recipeMakes;
    if (!namesAreForeign(*s.floatModel, *s.quantModel))
        return true;
    const auto back = readExample(s.floatModel->model, s.quantModel->model);
    if (!back.ok() || !back->possible || (!back->differences && !back->otherQuantizers))
        return false;
    const size_t others = back->otherQuantizers ? *back->otherQuantizers : *back->differences;
    return kFew * others <= s.quantModel->quant->quantizers().size();
}

Recipe recipeWithRanges(const ReadBack& back) { return withRanges(back.recipe, back.ranges); }

void keepSoftmaxRanges(ReadBack& back, const Graph& floatModel)
{
    constexpr float kRounding = 1e-5f; // of ends that scales stand for
    for (const Node& node : floatModel.nodes()) {
        if (!node.is("Softmax") || !node.hasOutput(0))
            continue;
        const std::string& name = floatModel.value(node.outputs[0]).name;
        const auto range = back.ranges.tensors.find(name);
        if (range == back.ranges.tensors.end() || back.recipe.tensors.contains(name))
            continue;
        const double low = range->second.lowest, high = range->second.highest;
        if (std::abs(low) > kRounding || std::abs(high - 1) > kRounding)
            back.recipe = withRange(std::move(back.recipe), name, low, high);
    }
}

std::string describeReadBack(const ReadBack& back)
{
    const Recipe& r = back.recipe;
    const auto type = [](DType t) { return std::string(dtypeName(t)); };
    const auto count = [](size_t n, const char* what) { return std::to_string(n) + " " + what + (n == 1 ? "" : "s"); };
    std::string text = std::string(nameIn(kRecipeFormats, r.format));
    if (isStatic(r.format))
        text += ", " + type(r.activationType) + " activations" + (r.symmetricActivations ? " (symmetric)" : "");
    text += ", " + type(r.weightType) + " weights";
    if (r.format == RecipeFormat::WeightOnly)
        text += " in blocks of " + std::to_string(r.weightOnly.blockSize);
    if (r.perChannel)
        text += " per channel";
    if (r.reduceRange)
        text += " of reduced range";
    if (!r.opTypes.empty())
        text += ", " + count(r.opTypes.size(), "operator type");
    if (!r.exclude.empty())
        text += ", " + count(r.exclude.size(), "node") + " excluded";
    if (!r.tensors.empty())
        text += ", " + count(r.tensors.size(), "tensor") + " of " + (r.tensors.size() == 1 ? "its" : "their") + " own";
    if (isStatic(r.format))
        text += ", " + count(back.ranges.tensors.size(), "range");
    if (!r.placement.nodes.empty())
        text += ", " + count(r.placement.tensors.size(), "quantizer") + " placed as in the file";
    if (!back.differences && back.otherQuantizers)
        text += *back.otherQuantizers == 0
            ? "; quantizing so gives the same quantizers"
            : "; quantizing so makes " + count(*back.otherQuantizers, "quantizer") + " otherwise";
    if (back.differences)
        text += *back.differences == 0
            ? "; quantizing so gives the same nodes and constants"
            : "; quantizing so leaves " + count(*back.differences, "difference") + " in nodes and constants";
    return text;
}

} // namespace qs
