// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/session/shown/search_names.h"

#include "widgets/models/base/formatting.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <vector>

namespace qs {

namespace {

enum Rank { kCompared, kTensor, kPlumbing, kRanks };

bool isPlumbing(const Node& node)
{
    static constexpr auto kTypes = std::to_array<std::string_view>({ "Constant", "ConstantOfShape", "Cast", "CastLike",
        "Identity", "QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear" });
    return std::ranges::find(kTypes, node.opType) != kTypes.end();
}

/// Made by plumbing, or a constant that only plumbing reads: scales, zero points, codes.
bool isPlumbing(const Graph& graph, const Value& value)
{
    if (value.producer.valid())
        return isPlumbing(graph.node(value.producer));
    return value.initializer
        && std::ranges::all_of(value.uses, [&](const Use& use) { return isPlumbing(graph.node(use.node)); });
}

} // namespace

QStringList searchNames(const Snapshot& snapshot)
{
    std::map<std::string, Rank> ranks;
    const auto put = [&](const std::string& name, Rank rank) {
        if (const auto [at, isNew] = ranks.try_emplace(name, rank); !isNew)
            at->second = std::min(at->second, rank);
    };
    for (const auto* model : { &snapshot.floatModel, &snapshot.quantModel }) {
        if (!*model)
            continue;
        const Graph& graph = (*model)->graph();
        for (const Node& node : graph.nodes())
            put(node.name, isPlumbing(node) ? kPlumbing : kCompared);
        for (const Value& value : graph.values())
            put(value.name, isPlumbing(graph, value) ? kPlumbing : kTensor);
    }
    if (snapshot.comparison) {
        for (const ActivationRow& row : snapshot.comparison->activations)
            put(row.name, kCompared);
        for (const WeightRow& row : snapshot.comparison->weights)
            put(row.name, kTensor); // though only its quantizer may read it
    }
    QStringList names;
    for (int rank = 0; rank < kRanks; ++rank) {
        for (const auto& [name, its] : ranks) {
            if (its == rank && !name.empty())
                names << toQt(name);
        }
    }
    return names;
}

} // namespace qs
