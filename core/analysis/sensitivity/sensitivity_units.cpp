// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/sensitivity/sensitivity_units.h"

#include "core/graph/domains.h"
#include "core/ops/macs.h"
#include "core/qdq/name_tails.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

namespace qs {

namespace {

using Names = std::unordered_set<std::string>;

bool isProduct(const std::string& type) { return type == "Conv" || type == "Gemm" || type == "MatMul"; }
bool isPair(const DraftNode& node, std::string_view type)
{
    return node.opType == type && (node.domain.empty() || node.domain == kMicrosoftDomain);
}

std::string withoutTail(const std::string& name, std::string_view tail)
{
    return name.ends_with(tail) ? name.substr(0, name.size() - tail.size()) : name;
}

/// Activations whose work a quantizer does, by the name of the value that it quantizes: that of their input or output.
std::unordered_map<std::string, const DraftNode*> replacedActivations(
    const GraphDraft& floats, const GraphDraft& quantized)
{
    Names names;
    for (const DraftNode& node : quantized.nodes)
        names.insert(node.name);
    std::unordered_map<std::string, const DraftNode*> replaced;
    for (const DraftNode& node : floats.nodes)
        if ((node.is("Relu") || node.is("Clip")) && !names.contains(node.name))
            for (const std::string& name : { node.inputs[0], node.outputs[0] })
                replaced.emplace(name, &node);
    return replaced;
}

/// The graph with some DequantizeLinear outputs (and what quantizes them) taken out: readers get the value before,
/// after the activation that the quantizer replaced, or the float constant.
void bypass(GraphDraft& draft, const GraphDraft& floats, const Names& outputs)
{
    const auto activations = replacedActivations(floats, draft);
    std::unordered_map<std::string, const DraftNode*> quantizers;
    for (const DraftNode& node : draft.nodes)
        if (isPair(node, "QuantizeLinear"))
            quantizers.emplace(node.outputs[0], &node);
    std::unordered_map<std::string, std::string> instead;
    std::vector<DraftNode> kept;
    for (const DraftNode& node : draft.nodes) {
        if (!isPair(node, "DequantizeLinear") || !outputs.contains(node.outputs[0])) {
            kept.push_back(node);
            continue;
        }
        const std::string& out = node.outputs[0];
        const auto quantizer = quantizers.find(node.inputs[0]);
        if (quantizer == quantizers.end()) {
            if (const Tensor* constant = floats.constant(withoutTail(out, tails::kDequantizeOutput)))
                draft.setConstant(out, *constant);
            else
                kept.push_back(node);
            continue;
        }
        const std::string& source = quantizer->second->inputs[0];
        if (const auto found = activations.find(withoutTail(source, tails::kQuantizeInput));
            found != activations.end()) {
            DraftNode activation = *found->second;
            activation.inputs[0] = source;
            activation.outputs = { out };
            for (size_t i = 1; i < activation.inputs.size(); ++i)
                if (const Tensor* bound = floats.constant(activation.inputs[i]))
                    draft.setConstant(activation.inputs[i], *bound);
            kept.push_back(std::move(activation));
        } else if (draft.isOutput(out)) {
            kept.push_back({ NodeId(), node.name, "Identity", "", { source }, { out }, {} });
        } else {
            instead[out] = source;
        }
    }
    for (DraftNode& node : kept)
        for (std::string& in : node.inputs)
            for (auto it = instead.find(in); it != instead.end(); it = instead.find(in))
                in = it->second;
    Names read;
    for (const DraftNode& node : kept)
        read.insert(node.inputs.begin(), node.inputs.end());
    std::erase_if(kept, [&](const DraftNode& node) {
        return isPair(node, "QuantizeLinear") && !read.contains(node.outputs[0]) && !draft.isOutput(node.outputs[0]);
    });
    draft.nodes = std::move(kept);
}

/// First outputs of nodes that a draft has as they are in another one.
Names keptNodes(const GraphDraft& floats, const GraphDraft& quantized)
{
    std::unordered_map<std::string, const DraftNode*> made;
    for (const DraftNode& node : quantized.nodes)
        if (!node.outputs.empty())
            made.emplace(node.outputs[0], &node);
    Names kept;
    for (const DraftNode& node : floats.nodes) {
        const auto there = node.outputs.empty() ? made.end() : made.find(node.outputs[0]);
        if (there != made.end() && there->second->is(node.opType) && there->second->inputs == node.inputs)
            kept.insert(node.outputs[0]);
    }
    return kept;
}

std::vector<std::string> withoutDuplicates(std::vector<std::string> names)
{
    std::ranges::sort(names);
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

} // namespace

Result<QuantizedUnits> QuantizedUnits::make(const SensitivityInputs& inputs, const OuterFacts& sizes)
{
    if (inputs.by == UnitKind::Tensor && inputs.recipe.format != RecipeFormat::Qdq)
        return badUse("only the qdq format quantizes tensors one by one", "use --format qdq, or go by node or type");
    QuantizedUnits result(*inputs.prepared);
    result.m_recipe = inputs.recipe;
    result.m_ranges = inputs.ranges;
    result.m_blocks = inputs.blocks;
    result.m_fileCodes = inputs.fileCodes;
    result.m_kind = inputs.by;
    QS_CHECK(result.addNodes(sizes));
    if (inputs.by == UnitKind::Tensor)
        QS_CHECK(result.addTensors());
    return result;
}

Status QuantizedUnits::addNodes(const OuterFacts& sizes)
{
    QS_TRY(const auto built, m_prepared.build());
    const InferredFacts facts = inferFacts(built->graph, sizes);
    std::unordered_map<std::string, int64_t> macs; ///< by first output
    for (const Node& node : built->graph.nodes()) {
        if (!isProduct(node.opType) || !node.hasOutput(0))
            continue;
        const auto known = nodeMacs(node, facts);
        m_macsKnown = m_macsKnown && known;
        macs[built->graph.value(node.outputs[0]).name] = known.value_or(0);
        m_totalMacs += known.value_or(0);
    }
    QS_TRY(const FloatModel model, FloatModel::make(m_prepared, m_recipe, {}));
    Names kept; // a node that is as it was makes no error: a product of two activations beside quantized weights
    if (!isStatic(m_recipe.format)) {
        QS_TRY(const QuantizedDraft quantized, quantize(m_recipe));
        kept = keptNodes(model.draft, quantized.draft);
    }
    std::map<std::string, size_t> byType;
    for (size_t n = 0; n < model.draft.nodes.size(); ++n) {
        const DraftNode& node = model.draft.nodes[n];
        if (!model.chosen[n] || node.outputs.empty() || kept.contains(node.outputs[0]))
            continue;
        const auto own = macs.find(node.outputs[0]);
        const int64_t count = own == macs.end() ? 0 : own->second;
        if (m_kind == UnitKind::Type) {
            const auto [at, added] = byType.emplace(node.opType, m_units.size());
            if (added)
                m_units.push_back({ node.opType, {}, {}, 0 });
            m_units[at->second].members.push_back(node.name);
            m_units[at->second].macs += count;
        } else {
            m_units.push_back({ node.name, node.opType, { node.name }, count });
        }
    }
    return {};
}

/// In place of the nodes: the quantized tensors of the whole model. The work of a node counts half for each factor.
Status QuantizedUnits::addTensors()
{
    std::unordered_map<std::string, int64_t> macs;
    for (const QuantizedUnit& unit : m_units)
        macs[unit.name] = unit.macs;
    m_units.clear();
    QS_TRY(QuantizedDraft quantized, quantize(m_recipe));
    const GraphDraft& draft = m_quantized.emplace(std::move(quantized.draft));
    std::unordered_map<std::string, std::string> sources; ///< by codes: the value that is quantized
    std::unordered_map<std::string, size_t> units; ///< by codes
    std::unordered_map<std::string, size_t> made; ///< by DequantizeLinear output
    for (const DraftNode& node : draft.nodes)
        if (isPair(node, "QuantizeLinear"))
            sources.emplace(node.outputs[0], node.inputs[0]);
    for (const DraftNode& node : draft.nodes) {
        if (!isPair(node, "DequantizeLinear"))
            continue;
        const std::string& codes = node.inputs[0];
        const std::string& out = node.outputs[0];
        const auto [at, added] = units.emplace(codes, m_units.size());
        if (added) {
            const auto source = sources.find(codes);
            std::string name = source == sources.end() ? withoutTail(out, tails::kDequantizeOutput)
                : draft.isOutput(out)                  ? out
                                                       : source->second;
            const Tensor* constant = draft.constant(codes);
            const char* role = source != sources.end()          ? "activation"
                : constant && constant->dtype() == DType::Int32 ? "bias"
                                                                : "weight";
            m_units.push_back({ std::move(name), role, {}, 0 });
        }
        m_units[at->second].members.push_back(out);
        made.emplace(out, at->second);
    }
    for (const DraftNode& node : draft.nodes) {
        const auto count = macs.find(node.name);
        if (count == macs.end() || node.inputs.size() < 2)
            continue;
        std::vector<size_t> factors;
        for (size_t i = 0; i < 2; ++i)
            if (const auto unit = made.find(node.inputs[i]); unit != made.end())
                factors.push_back(unit->second);
        for (const size_t unit : factors)
            m_units[unit].macs += count->second / int64_t(factors.size());
    }
    return {};
}

Result<QuantizedDraft> QuantizedUnits::quantize(const Recipe& recipe) const
{
    QuantizerHelp help;
    help.constants = m_constants;
    help.blocks = m_blocks.get();
    help.made = m_made;
    help.kept = m_fileCodes;
    return quantizeDraft(m_prepared, recipe, m_ranges, help);
}

Result<GraphDraft> QuantizedUnits::byRecipe(
    const std::vector<std::string>& include, const std::vector<std::string>& exclude) const
{
    Recipe recipe = m_recipe;
    if (!include.empty())
        recipe.include = include;
    recipe.exclude.insert(recipe.exclude.end(), exclude.begin(), exclude.end());
    QS_TRY(QuantizedDraft made, quantize(recipe));
    return std::move(made.draft);
}

Result<GraphDraft> QuantizedUnits::only(std::span<const size_t> units) const
{
    if (units.empty())
        return m_prepared;
    std::vector<std::string> names;
    if (m_kind != UnitKind::Tensor) {
        for (const size_t u : units)
            names.insert(names.end(), m_units[u].members.begin(), m_units[u].members.end());
        return byRecipe(withoutDuplicates(std::move(names)), {});
    }
    Names others;
    for (size_t u = 0; u < m_units.size(); ++u)
        if (!std::ranges::binary_search(units, u))
            others.insert(m_units[u].members.begin(), m_units[u].members.end());
    GraphDraft draft = *m_quantized;
    bypass(draft, m_prepared, others);
    return draft;
}

Result<GraphDraft> QuantizedUnits::without(std::span<const size_t> units) const
{
    if (units.size() == m_units.size())
        return m_prepared;
    std::vector<std::string> names;
    for (const size_t u : units)
        names.insert(names.end(), m_units[u].members.begin(), m_units[u].members.end());
    if (m_kind != UnitKind::Tensor)
        return byRecipe({}, withoutDuplicates(std::move(names)));
    GraphDraft draft = *m_quantized;
    bypass(draft, m_prepared, { names.begin(), names.end() });
    return draft;
}

int64_t QuantizedUnits::unitMacs() const
{
    return std::accumulate(m_units.begin(), m_units.end(), int64_t(0),
        [](int64_t sum, const QuantizedUnit& unit) { return sum + unit.macs; });
}

} // namespace qs
