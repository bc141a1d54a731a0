// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/name_pattern.h"
#include "core/qdq/name_tails.h"
#include "core/quant/dynamic/dynamic.h"
#include "core/quant/model/reads.h"
#include "core/quant/recipe/op_types.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>

namespace qs {

namespace {

template <class T> Tensor transposedAs(const Tensor& matrix)
{
    const auto rows = static_cast<size_t>(matrix.dim(0)), columns = static_cast<size_t>(matrix.dim(1));
    Tensor out = Tensor::allocate(matrix.dtype(), { matrix.dim(1), matrix.dim(0) });
    const auto from = matrix.data<T>();
    const auto to = out.fill<T>();
    for (size_t r = 0; r < rows; ++r)
        for (size_t c = 0; c < columns; ++c)
            to[c * rows + r] = from[r * columns + c];
    return out;
}

/// Float32 or float16.
Tensor transposed(const Tensor& matrix)
{
    const Tensor plain = toPlain(matrix);
    return plain.dtype() == DType::Float16 ? transposedAs<uint16_t>(plain) : transposedAs<float>(plain);
}

/// Nodes whose names the patterns match; a pattern that matches nothing is an Issue later.
std::vector<bool> namedNodes(const GraphDraft& draft, const std::vector<std::string>& options)
{
    std::vector<std::string> names;
    for (const DraftNode& node : draft.nodes)
        names.push_back(node.name);
    std::vector<bool> named(names.size(), false);
    for (const std::string& pattern : splitPatterns(options, names))
        if (const auto found = matchNames(pattern, names))
            for (size_t i : *found)
                named[i] = true;
    return named;
}

using Names = std::unordered_set<std::string>;

void addNames(const Graph& body, Names& names)
{
    for (const Value& value : body.values())
        names.insert(value.name);
    for (const Node& node : body.nodes())
        for (const auto& inner : subgraphs(node.attributes))
            addNames(*inner, names);
}

/// Of all values, those of subgraphs included.
Names namesIn(const GraphDraft& draft)
{
    Names names(draft.constants().begin(), draft.constants().end());
    names.insert(draft.inputs().begin(), draft.inputs().end());
    for (const DraftNode& node : draft.nodes) {
        names.insert(node.inputs.begin(), node.inputs.end());
        names.insert(node.outputs.begin(), node.outputs.end());
        for (const auto& body : subgraphs(node.attributes))
            addNames(*body, names);
    }
    return names;
}

/// What all graphs of a model share while their products are split.
struct Splitting {
    Recipe& recipe;
    Names taken; ///< 1.32 only
    std::vector<std::string> included = {}; ///< names of products whose Gemm the recipe includes
};

/// A graph with those around it, the main graph last.
struct Nest {
    GraphDraft& draft;
    Nest* outer;
    Splitting& common;
    std::unordered_map<std::string, std::string> transposed = {}; ///< 1.32: names by the weight they come from

    /// The graph that stores the constant; null where none does.
    Nest* homeOf(const std::string& name)
    {
        Nest* nest = this;
        while (nest && !nest->draft.constant(name))
            nest = nest->outer;
        return nest;
    }
    /// Slots that read the value, those in subgraphs included.
    size_t reads(const std::string& name) const
    {
        size_t count = draft.isOutput(name) ? 1 : 0;
        for (const DraftNode& node : draft.nodes) {
            count += static_cast<size_t>(std::ranges::count(node.inputs, name));
            for (const auto& body : subgraphs(node.attributes))
                count += readsOf(*body, name);
        }
        return count;
    }
};

/// A name that neither a value nor what quantizing makes of one has.
std::string freeName(const std::string& weight, Names& taken)
{
    static const std::array<std::string, 4> kEnds { "", tails::kCodes, tails::kScale, tails::kZeroPoint };
    const auto isTaken = [&](const std::string& name) {
        return std::ranges::any_of(kEnds, [&](const std::string& end) { return taken.contains(name + end); });
    };
    const std::string stem = weight + "_Transposed";
    std::string name = stem;
    for (size_t i = 1; isTaken(name); ++i)
        name = stem + "_" + std::to_string(i);
    for (const std::string& end : kEnds)
        taken.insert(name + end);
    return name;
}

/// What the recipe asks of a weight holds for its columns and rows exchanged.
void copyOverride(Recipe& recipe, const std::string& from, const std::string& to)
{
    const auto asked = recipe.tensors.find(from);
    if (asked == recipe.tensors.end())
        return;
    TensorOverride override = asked->second;
    if (override.axis)
        override.axis = 1 - (*override.axis + 2) % 2;
    recipe.tensors.insert_or_assign(to, std::move(override));
}

/// As ONNX Runtime 1.32 does it: the weight stays as it is, and the graph that reads it gets a transposed one.
std::string besideIt(Nest& nest, const std::string& name, const Tensor& weight)
{
    auto& target = nest.transposed[name];
    if (target.empty()) {
        target = freeName(name, nest.common.taken);
        nest.draft.setConstant(target, transposed(weight));
        copyOverride(nest.common.recipe, name, target);
    }
    return target;
}

/// The second factor in the order that MatMul needs; `added` gets the Transpose of one that is computed.
std::string secondFactor(Nest& nest, const DraftNode& gemm, std::vector<DraftNode>& added)
{
    const std::string& name = gemm.inputs[1];
    if (gemm.attributes.integer("transB", 0) == 0)
        return name;
    Nest* home = nest.homeOf(name);
    const Tensor* weight = home ? home->draft.constant(name) : nullptr;
    const bool real = weight && (weight->dtype() == DType::Float32 || weight->dtype() == DType::Float16);
    if (!real || weight->rank() != 2) {
        DraftNode transpose { NodeId(), gemm.name + "_Transpose", "Transpose", "", { name }, { name + "_Transposed" },
            {} };
        added.push_back(std::move(transpose));
        return name + "_Transposed";
    }
    if (nest.common.recipe.ortVersion != OrtVersion::V1_31)
        return besideIt(nest, name, *weight);
    const std::string target = home->reads(name) == 1 ? name : name + "_Transposed";
    if (target == name || !home->draft.constant(target))
        home->draft.setConstant(target, transposed(*weight));
    return target;
}

Status splitIn(Nest& nest);

/// The subgraph with its products split; the same one where it has none.
Result<std::shared_ptr<const Graph>> splitBody(Nest& outer, const std::shared_ptr<const Graph>& body)
{
    GraphDraft inner = draftOfBody(outer.draft, *body);
    Nest nest { inner, &outer, outer.common };
    QS_CHECK(splitIn(nest));
    const auto same = [](const DraftNode& node) { return node.origin.valid() && !node.attributesChanged; };
    if (std::ranges::all_of(inner.nodes, same))
        return body;
    QS_TRY(const auto model, inner.build());
    return std::shared_ptr<const Graph>(model, &model->graph);
}

Status splitIn(Nest& nest)
{
    GraphDraft& draft = nest.draft;
    const std::vector<bool> excluded = namedNodes(draft, nest.common.recipe.exclude);
    const std::vector<bool> included = namedNodes(draft, nest.common.recipe.include);
    std::vector<DraftNode> nodes;
    for (size_t n = 0; n < draft.nodes.size(); ++n) {
        DraftNode& node = draft.nodes[n];
        QS_CHECK(
            replaceSubgraphs(node, [&](const std::shared_ptr<const Graph>& body) { return splitBody(nest, body); }));
        const DraftNode gemm = node;
        if (!isProductAndSum(gemm) || excluded[n]) {
            nodes.push_back(gemm);
            continue;
        }
        const std::string second = secondFactor(nest, gemm, nodes);
        const bool sum = gemm.hasInput(2);
        const std::string product = sum ? gemm.outputs[0] + "_MatMul" : gemm.outputs[0];
        const std::string name = productName(gemm.name);
        nodes.push_back({ NodeId(), name, "MatMul", "", { gemm.inputs[0], second }, { product }, {} });
        if (sum)
            nodes.push_back(
                { NodeId(), sumName(gemm.name), "Add", "", { product, gemm.inputs[2] }, { gemm.outputs[0] }, {} });
        if (included[n])
            nest.common.included.push_back(name);
        // reads() counts: those already split do not read the weight under its old name any more.
        draft.nodes[n].inputs.clear();
    }
    draft.nodes = std::move(nodes);
    draft.noteCaptures();
    draft.dropUnusedConstants();
    return {};
}

/// What the recipe includes of Gemms it includes of their products. A pattern that named Gemms alone goes.
void includeProducts(Recipe& recipe, const std::vector<std::string>& before, const GraphDraft& after,
    const std::vector<std::string>& products)
{
    const std::vector<std::string> names = nodeNames(after, recipe);
    std::vector<std::string> kept;
    for (const std::string& pattern : splitPatterns(recipe.include, before))
        if (matchNames(pattern, names) || !matchNames(pattern, before))
            kept.push_back(pattern);
    kept.insert(kept.end(), products.begin(), products.end());
    recipe.include = std::move(kept);
}

} // namespace

Status splitGemms(GraphDraft& draft, Recipe& recipe)
{
    const std::vector<std::string> before = nodeNames(draft, recipe);
    Splitting common { recipe, {} };
    if (recipe.ortVersion != OrtVersion::V1_31)
        common.taken = namesIn(draft);
    Nest nest { draft, nullptr, common };
    QS_CHECK(splitIn(nest));
    if (!common.included.empty())
        includeProducts(recipe, before, draft, common.included);
    return {};
}

} // namespace qs
