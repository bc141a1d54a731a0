// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/price/priced_units.h"

#include "core/analysis/blame/layer_names.h"
#include "core/base/name_pattern.h"
#include "core/quant/weight_only/block_rules.h"
#include "core/quant/write/quantizer.h"

#include <algorithm>
#include <map>

namespace qs {

namespace {

using ConstantSizes = std::map<std::string, uint64_t>; ///< by place

void addConstantSizes(const Graph& body, const std::string& place, ConstantSizes& sizes);

void addBodySizes(const Attributes& attributes, const std::string& place, ConstantSizes& sizes)
{
    size_t index = 0;
    for (const auto& body : subgraphs(attributes))
        addConstantSizes(*body, place + '\n' + std::to_string(index++) + '\n', sizes);
}

void addConstantSizes(const Graph& body, const std::string& place, ConstantSizes& sizes)
{
    for (const Value& value : body.values())
        if (value.initializer)
            sizes.emplace(place + value.name, value.initializer->byteCount());
    for (const Node& node : body.nodes())
        addBodySizes(node.attributes, place + node.name, sizes);
}

ConstantSizes constantSizes(const GraphDraft& draft)
{
    ConstantSizes sizes;
    for (const std::string& name : draft.constants())
        sizes.emplace(name, draft.constant(name)->byteCount());
    for (const DraftNode& node : draft.nodes)
        addBodySizes(node.attributes, node.name, sizes);
    return sizes;
}

/// Of those in `a` that `b` has not.
uint64_t bytesBeyond(const ConstantSizes& a, const ConstantSizes& b)
{
    uint64_t sum = 0;
    for (const auto& [name, bytes] : a)
        sum += b.contains(name) ? 0 : bytes;
    return sum;
}

} // namespace

uint64_t constantBytes(const GraphDraft& draft) { return bytesBeyond(constantSizes(draft), {}); }

StoredBytes storedBytes(const GraphDraft& prepared, const GraphDraft& alone)
{
    const ConstantSizes before = constantSizes(prepared), after = constantSizes(alone);
    return { bytesBeyond(after, before), bytesBeyond(before, after) };
}

Result<PricedUnits> PricedUnits::make(const GraphDraft& prepared, const Recipe& recipe,
    std::shared_ptr<const ReadyBlocks> blocks, const std::vector<std::string>& only, size_t threads)
{
    QS_CHECK(checkPriced(recipe));
    PricedUnits result(prepared, recipe);
    result.m_recipe.weightType = *result.m_ladder.front();
    result.m_blocks = std::move(blocks);
    result.m_threads = threads;
    QS_TRY(FloatModel model, FloatModel::make(prepared, result.m_recipe, {}));
    QS_CHECK(result.find(model));
    if (result.m_units.empty())
        return badInput("no MatMul of the model reads a constant that the recipe stores in blocks",
            prepared.source().path, "give a model with such weights, and do not exclude all of them");
    std::vector<std::string> names;
    for (const PricedUnit& unit : result.m_units)
        names.push_back(unit.name);
    const auto layers = layersOf(names); // which take all names to be told
    for (size_t u = 0; u < layers.size(); ++u)
        result.m_units[u].layer = layers[u];
    QS_CHECK(result.keep(only));
    return result;
}

Status PricedUnits::find(FloatModel& model)
{
    QS_TRY(const auto products, blockProducts(model, m_recipe, m_threads));
    for (const BlockProduct& product : products) {
        const DraftNode& node = model.draft.nodes[product.node];
        const auto own = m_recipe.weightOnly.nodes.find(node.name);
        if (own == m_recipe.weightOnly.nodes.end() || !own->second.type)
            add(node, product.weight);
    }
    for (const DraftNode& node : model.draft.nodes)
        for (const auto& body : subgraphs(node.attributes)) {
            FloatModel inner = FloatModel::ofBody(*body, m_recipe, model);
            QS_CHECK(find(inner));
        }
    return {};
}

/// One weight has one type, and so have nodes of one name.
void PricedUnits::add(const DraftNode& node, const std::string& weight)
{
    const auto same = std::ranges::find_if(m_units, [&](const PricedUnit& unit) {
        return unit.weight == weight || std::ranges::find(unit.nodes, node.name) != unit.nodes.end();
    });
    if (same == m_units.end())
        m_units.push_back({ node.name, node.opType, weight, {}, { node.name } });
    else if (std::ranges::find(same->nodes, node.name) == same->nodes.end())
        same->nodes.push_back(node.name);
}

Status PricedUnits::keep(const std::vector<std::string>& only)
{
    if (only.empty())
        return {};
    std::vector<std::string> names;
    for (const PricedUnit& unit : m_units)
        names.push_back(unit.name);
    std::vector<bool> kept(names.size(), false);
    for (const std::string& pattern : splitPatterns(only, names)) {
        QS_TRY(const auto indices, matchNames(pattern, names));
        for (const size_t i : indices)
            kept[i] = true;
    }
    size_t index = 0;
    std::erase_if(m_units, [&](const PricedUnit&) { return !kept[index++]; });
    return {};
}

void setStore(Recipe& recipe, const PricedUnit& unit, const WeightStore& store, bool fewest)
{
    for (const std::string& node : unit.nodes)
        if (!store)
            recipe.exclude.push_back(node);
        else if (!fewest)
            recipe.weightOnly.nodes[node].type = store;
}

Recipe PricedUnits::recipe(Recipe from, const StoreChoice& choice) const
{
    from.weightType = *m_ladder.front();
    for (size_t u = 0; u < m_units.size(); ++u)
        setStore(from, m_units[u], m_ladder[choice[u]], choice[u] == 0);
    return from;
}

Result<GraphDraft> PricedUnits::model(const StoreChoice& choice) const { return quantized(recipe(m_recipe, choice)); }

Result<GraphDraft> PricedUnits::alone(size_t unit, size_t store) const
{
    StoreChoice choice = allAt(0);
    choice[unit] = store;
    Recipe recipe = this->recipe(m_recipe, choice);
    recipe.include = m_units[unit].nodes;
    return quantized(recipe);
}

Result<GraphDraft> PricedUnits::quantized(const Recipe& recipe) const
{
    QuantizerHelp help;
    help.threads = m_threads;
    help.blocks = m_blocks.get();
    help.made = m_made;
    QS_TRY(QuantizedDraft made, quantizeDraft(m_prepared, recipe, {}, help));
    return std::move(made.draft);
}

} // namespace qs
