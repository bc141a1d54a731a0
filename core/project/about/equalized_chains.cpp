// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/about/equalized_chains.h"

#include "core/analysis/rows/weight_rows.h"
#include "core/match/alignment.h"
#include "core/project/snapshot/loaded_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace qs {

namespace {

/// The layer, and all that share factors with it; these are taken out of `left`.
std::vector<NodeId> chainOf(NodeId first, const Graph& graph, const EqualizedLayers& layers, std::set<NodeId>& left)
{
    std::vector<NodeId> chain { first };
    std::set<NodeId> seen { first };
    const auto go = [&](NodeId node) {
        if (node.valid() && seen.insert(node).second)
            chain.push_back(node);
    };
    for (size_t i = 0; i < chain.size(); ++i) {
        const Node& node = graph.node(chain[i]);
        for (const ValueId in : node.inputs)
            if (in.valid() && layers.values.contains(in))
                go(graph.value(in).producer);
        for (const ValueId out : node.outputs)
            if (out.valid() && layers.values.contains(out))
                for (const Use& use : graph.value(out).uses)
                    go(use.node);
    }
    std::erase_if(chain, [&](NodeId node) { return left.erase(node) == 0; });
    std::ranges::sort(chain);
    return chain;
}

std::string quoted(const std::vector<std::string>& names, const std::string& between, const std::string& before)
{
    std::string list;
    for (const std::string& name : names)
        list += (list.empty() ? "" : between) + before + "'" + name + "'";
    return list;
}

} // namespace

std::vector<EqualizedChain> equalizedChains(
    const std::shared_ptr<const Model>& floatModel, const std::shared_ptr<const Model>& quantized)
{
    const LoadedModel f = loadedModel(floatModel), q = loadedModel(quantized);
    auto alignment = align(*f.plan, *q.plan, *q.quant, {});
    if (!alignment.ok() || alignment->strangers)
        return {};
    const ComparePair pair { f.plan, q.plan, q.quant, std::make_shared<const Alignment>(std::move(alignment).value()) };
    const std::vector<WeightRow> rows = compareWeights(pair, /*histograms*/ false, /*threads*/ 1);
    const EqualizedLayers layers = equalizedLayers(pair, rows);
    std::vector<EqualizedChain> chains;
    for (std::set<NodeId> left = layers.nodes; !left.empty();) {
        EqualizedChain chain;
        for (const NodeId node : chainOf(*left.begin(), f.graph(), layers, left)) {
            const auto row = std::ranges::find_if(
                rows, [&](const WeightRow& r) { return r.floatNode == node && !r.bias && r.equalized; });
            if (row == rows.end())
                continue;
            chain.nodes.push_back(f.graph().node(node).name);
            chain.weights.push_back(f.graph().value(row->floatValue).name);
        }
        chains.push_back(std::move(chain));
    }
    return chains;
}

Status checkChains(const std::vector<EqualizedChain>& chains, const FileCodes& wanted, const CodeOrigins& made)
{
    for (const EqualizedChain& chain : chains) {
        std::vector<std::string> kept, others;
        for (size_t i = 0; i < chain.nodes.size(); ++i)
            if (wanted.constants.contains(chain.weights[i]))
                (made.kept.contains(chain.weights[i]) ? kept : others).push_back(chain.nodes[i]);
        if (!kept.empty() && !others.empty())
            return badUse(fmt::format("{} as in {}, {} not, but that file has these layers equalized: their factors "
                                      "cancel out together alone",
                              quoted(kept, ", ", "") + (kept.size() > 1 ? " are" : " is"), wanted.file,
                              quoted(others, ", ", "") + (others.size() > 1 ? " are" : " is")),
                "exclude all of them: add " + quoted(kept, " ", "--exclude ")
                    + "; or quantize the float model without --like");
    }
    return {};
}

} // namespace qs
