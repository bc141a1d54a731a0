// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/model/float_model.h"

#include "core/base/name_pattern.h"
#include "core/kernels/statistics/value_range.h"
#include "core/ops/infer.h"
#include "core/ops/left_out.h"
#include "core/ops/needed_values.h"
#include "core/ops/op.h"
#include "core/quant/model/opsets.h"
#include "core/quant/model/stated_types.h"
#include "core/quant/recipe/op_types.h"
#include "core/tensor/convert.h"

#include <algorithm>

namespace qs {

namespace {

Result<std::vector<bool>> matching(const std::vector<std::string>& options, const std::vector<std::string>& names)
{
    std::vector<bool> found(names.size(), false);
    for (const std::string& pattern : splitPatterns(options, names)) {
        QS_TRY(const auto indices, matchNames(pattern, names));
        for (size_t i : indices)
            found[i] = true;
    }
    return found;
}

/// Which of a model's nodes an option names. A Gemm that the dynamic form takes apart also goes by its product's name.
Result<std::vector<bool>> nodesOrProducts(
    const std::vector<std::string>& options, const FloatModel& model, const Recipe& recipe)
{
    std::vector<std::string> names = nodeNames(model.draft, recipe);
    const size_t count = names.size();
    std::vector<size_t> gemms;
    for (size_t n = 0; n < model.draft.nodes.size(); ++n)
        if (const DraftNode& node = model.draft.nodes[n];
            recipe.format == RecipeFormat::Dynamic && isProductAndSum(node)) {
            gemms.push_back(n);
            names.push_back(productName(node.name));
        }
    QS_TRY(std::vector<bool> found, matching(options, names));
    for (size_t i = 0; i < gemms.size(); ++i)
        found[gemms[i]] = found[gemms[i]] || found[count + i];
    found.resize(count);
    return found;
}

bool isChosenType(const std::string& type, const Recipe& recipe)
{
    const auto& types = opTypesOf(recipe);
    return type != "QuantizeLinear" && type != "DequantizeLinear" && std::ranges::find(types, type) != types.end();
}

bool isKnownType(const std::string& type)
{
    const auto operators = opRegistry().all();
    const auto others = leftOutOperators();
    return std::ranges::find(operators, type, &Op::type) != operators.end()
        || std::ranges::find(others, type, &LeftOutOperator::type) != others.end();
}

/// A type that neither the model nor a list of ONNX Runtime's has is most likely meant for another model, and one that
/// is not known at all misspelt.
Status checkTypeNames(FloatModel& model, const Recipe& recipe)
{
    const auto& usual = defaultOpTypes(recipe.format);
    for (const std::string& type : recipe.opTypes) {
        if (std::ranges::find(usual, type) != usual.end()
            || std::ranges::find(model.draft.nodes, type, &DraftNode::opType) != model.draft.nodes.end())
            continue;
        if (!isKnownType(type))
            return badInput(
                "no operator is known as '" + type + "'", {}, "name types of nodes, such as Conv or MatMul");
        model.warnings.push_back("no node is of the type '" + type + "', which the recipe names");
    }
    return {};
}

FloatReason notChosen(const std::string& type, const Recipe& recipe, bool excluded)
{
    const auto& usual = defaultOpTypes(recipe.format);
    if (!isChosenType(type, recipe) && std::ranges::find(usual, type) == usual.end())
        return { FloatCause::NoRule,
            "ONNX Runtime's tools do not quantize " + type + " in the "
                + std::string(nameIn(kRecipeFormats, recipe.format)) + " format" };
    if (!isChosenType(type, recipe))
        return { FloatCause::OpType, "the recipe's operator types leave out " + type };
    if (excluded)
        return { FloatCause::Excluded, "the recipe excludes it" };
    return { FloatCause::Excluded, "the recipe includes other nodes only" };
}

Status choose(FloatModel& model, const Recipe& recipe)
{
    QS_CHECK(checkTypeNames(model, recipe));
    const std::vector<std::string> names = nodeNames(model.draft, recipe);
    QS_TRY(const auto included, nodesOrProducts(recipe.include, model, recipe));
    QS_TRY(const auto excluded, nodesOrProducts(recipe.exclude, model, recipe));
    const auto& nodes = model.draft.nodes;
    for (size_t n = 0; n < names.size(); ++n) {
        const bool wanted = (recipe.include.empty() || included[n]) && !excluded[n];
        if (n < nodes.size()) {
            const std::string type = chosenType(nodes[n], recipe.format);
            model.chosen.push_back(wanted && isChosenType(type, recipe));
            if (!model.chosen.back())
                model.stays(nodes[n], notChosen(type, recipe, excluded[n]));
        } else if (!wanted)
            model.leftOut.insert(names[n]);
    }
    return {};
}

void addNames(const Graph& body, std::vector<std::string>& names)
{
    for (const Node& node : body.nodes()) {
        names.push_back(node.name);
        for (const auto& inner : subgraphs(node.attributes))
            addNames(*inner, names);
    }
}

Status checkOverrides(const FloatModel& model, const Recipe& recipe)
{
    for (const auto& [name, override] : recipe.tensors) {
        const bool constant = model.draft.constant(name) != nullptr;
        if (!constant && !model.types.contains(name) && !model.unstated.contains(name))
            return Issue { IssueKind::BadInput, "is in the recipe, but not in the model", {}, {}, name,
                "correct the name" };
        if (constant && override.calibrator)
            return Issue { IssueKind::BadInput, "is a constant, whose range no calibrator finds", {}, {}, name,
                "leave its calibrator out of the recipe" };
    }
    return {};
}

void findTypes(FloatModel& model, const Graph& graph, RecipeFormat format)
{
    const InferredFacts facts = inferFacts(graph);
    const std::vector<bool> stated
        = isStatic(format) ? statedTypes(graph) : std::vector<bool>(graph.values().size(), true);
    std::string first;
    const auto values = graph.values();
    for (size_t v = 0; v < values.size(); ++v) {
        const DType type = facts.of(ValueId(v)).dtype;
        if (type != DType::Undefined && stated[v]) {
            model.types.emplace(values[v].name, type);
        } else if (!stated[v]) {
            model.unstated.insert(values[v].name);
            if (first.empty() && (type == DType::Float32 || type == DType::Float16))
                first = values[v].name;
        }
    }
    if (!first.empty())
        model.warnings.push_back("'" + first
            + "' and what follows from it stay float, as ONNX Runtime leaves them: "
              "the file does not state their type, and ONNX does not know the operator before them; graph preparation "
              "(infer_shapes) states it");
}

} // namespace

Result<FloatModel> FloatModel::make(GraphDraft draft, const Recipe& recipe, Ranges ranges)
{
    FloatModel model {
        .draft = std::move(draft), .ranges = std::move(ranges), .keepExtremes = recipe.keepExtremeConstants
    };
    QS_CHECK(checkNeededValues(model.draft));
    QS_TRY(const auto built, model.draft.build());
    findTypes(model, built->graph, recipe.format);
    for (size_t n = 0; n < model.draft.nodes.size(); ++n) {
        for (const std::string& in : model.draft.nodes[n].inputs)
            if (!in.empty())
                model.readers[in].push_back(n);
        for (const std::string& out : model.draft.nodes[n].outputs)
            if (!out.empty())
                model.producers.emplace(out, n);
    }
    QS_CHECK(choose(model, recipe));
    QS_CHECK(checkOverrides(model, recipe));
    return model;
}

FloatModel FloatModel::ofBody(const Graph& body, const Recipe& recipe, const FloatModel& outer)
{
    FloatModel model { .draft = draftOfBody(outer.draft, body),
        .leftOut = outer.leftOut,
        .outer = &outer,
        .keepExtremes = outer.keepExtremes };
    OuterFacts around;
    for (const std::string& name : outerNames(body))
        around[name].dtype = outer.typeOf(name);
    const InferredFacts facts = inferFacts(body, around);
    for (size_t v = 0; v < body.values().size(); ++v)
        if (const DType type = facts.of(ValueId(v)).dtype; type != DType::Undefined)
            model.types.emplace(body.values()[v].name, type);
    for (const DraftNode& node : model.draft.nodes)
        model.chosen.push_back(isChosenType(node.opType, recipe) && !model.leftOut.contains(node.name));
    return model;
}

const Tensor* FloatModel::constant(const std::string& name) const
{
    const Tensor* own = draft.constant(name);
    return own || !outer ? own : outer->constant(name);
}

void FloatModel::stays(const DraftNode& node, FloatReason reason)
{
    if (leftNames.insert(node.name).second)
        left.push_back({ node.name, node.opType, std::move(reason) });
}

FloatReason FloatModel::whyNoCodes(const std::string& name) const
{
    if (unstated.contains(name))
        return { FloatCause::Type, "the file does not state the type of '" + name + "'" };
    const auto type = types.find(name);
    if (type == types.end())
        return { FloatCause::Type, "the type of '" + name + "' is not known" };
    if (realType(name) == DType::Undefined)
        return { FloatCause::Type, "'" + name + "' is " + std::string(dtypeName(type->second)) };
    if (keptExtreme(name))
        return { FloatCause::Extreme,
            "'" + name + "' holds values so large that no scale serves the others, too, and is kept in float" };
    return { FloatCause::Range, "no range of '" + name + "' is known" };
}

FloatReason FloatModel::whyTooOld(const DraftNode& node, int64_t first) const
{
    return { FloatCause::Opset,
        node.opType + " takes codes from opset " + std::to_string(first) + " on, and the quantized model has "
            + std::to_string(opset()) };
}

DType FloatModel::typeOf(const std::string& name) const
{
    const auto it = types.find(name);
    if (it != types.end())
        return it->second;
    return outer ? outer->typeOf(name) : DType::Undefined;
}

DType FloatModel::realType(const std::string& name) const
{
    const DType type = typeOf(name);
    return type == DType::Float32 || type == DType::Float16 ? type : DType::Undefined;
}

bool FloatModel::keptExtreme(const std::string& name) const
{
    // What a mask adds to make the others vanish (-3.4e38); no weight does.
    constexpr float kExtreme = 1e9f;
    if (!keepExtremes)
        return false;
    if (const TensorRange* range = ranges.find(name))
        return range->extreme || -range->lowest >= kExtreme || range->highest >= kExtreme;
    const Tensor* constant = draft.constant(name);
    return constant && constant->dtype() == DType::Float32
        && valueRange(toPlain(*constant).data<float>()).magnitude() >= kExtreme;
}

int64_t FloatModel::opset() const { return opsetOf(draft); }

const std::vector<size_t>& FloatModel::readersOf(const std::string& name) const
{
    static const std::vector<size_t> none;
    const auto it = readers.find(name);
    return it == readers.end() ? none : it->second;
}

std::vector<std::string> nodeNames(const GraphDraft& draft, const Recipe& recipe)
{
    std::vector<std::string> names;
    for (const DraftNode& node : draft.nodes)
        names.push_back(node.name);
    if (entersSubgraphs(recipe))
        for (const DraftNode& node : draft.nodes)
            for (const auto& body : subgraphs(node.attributes))
                addNames(*body, names);
    return names;
}

bool entersSubgraphs(const Recipe& recipe)
{
    if (recipe.format == RecipeFormat::Dynamic)
        return recipe.subgraphs;
    const WeightOnlyAlgorithm algorithm = recipe.weightOnly.algorithm;
    return recipe.format == RecipeFormat::WeightOnly
        && (algorithm == WeightOnlyAlgorithm::Default || algorithm == WeightOnlyAlgorithm::Hqq);
}

void editRanges(FloatModel& model)
{
    auto& tensors = model.ranges.tensors;
    for (size_t n = 0; n < model.draft.nodes.size(); ++n) {
        const DraftNode& node = model.draft.nodes[n];
        if (!model.chosen[n] || node.outputs.empty())
            continue;
        if (node.is("Relu") || node.is("Clip")) {
            const auto in = tensors.find(node.inputs.front());
            const auto out = tensors.find(node.outputs.front());
            if (in != tensors.end() && out != tensors.end() && model.readersOf(node.inputs.front()).size() == 1) {
                model.replacedRanges.emplace(in->first, in->second);
                in->second = out->second;
            }
        } else if (node.is("Softmax")) {
            TensorRange& range = tensors[node.outputs.front()];
            TensorRange unit;
            unit.lowest = 0;
            unit.highest = 1;
            unit.average = range.average;
            unit.deviation = range.deviation; // without which ONNX Runtime fails at float8
            range = unit;
        }
    }
}

} // namespace qs
