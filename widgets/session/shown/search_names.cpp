// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/session/shown/search_names.h"

#include "widgets/models/base/formatting.h"
#include "widgets/models/base/translated.h"
#include "widgets/models/values/row_of_value.h"

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

struct RankedName {
    Rank rank = kPlumbing;
    NamedPlace place;
};

/// By name; what a node is called is listed apart from a tensor of that name.
using RankedNames = std::map<std::pair<std::string, bool>, RankedName>;

/// Puts it there unless it stands there already, with a lower rank where that is known now.
void putName(RankedNames& names, const std::string& name, Rank rank, const QString& note, bool node, const Place& place)
{
    if (name.empty())
        return;
    const auto [at, isNew] = names.try_emplace({ name, node });
    RankedName& found = at->second;
    if (isNew)
        found = { rank, { toQt(name), note, node, place } };
    found.rank = std::min(found.rank, rank);
}

Place placeOfNode(Side side, NodeId id)
{
    Place place;
    place.side = side;
    place.node = id;
    return place;
}

Place placeOfValue(Side side, ValueId id)
{
    Place place;
    place.side = side;
    place.value = id;
    return place;
}

void putModel(RankedNames& names, const LoadedModel& model, Side side)
{
    const Graph& graph = model.graph();
    for (size_t n = 0; n < graph.nodes().size(); ++n) {
        const Node& node = graph.nodes()[n];
        putName(names, node.name, isPlumbing(node) ? kPlumbing : kCompared, toQt(node.opType), true,
            placeOfNode(side, NodeId(uint32_t(n))));
    }
    for (size_t v = 0; v < graph.values().size(); ++v) {
        const Value& value = graph.values()[v];
        putName(names, value.name, isPlumbing(graph, value) ? kPlumbing : kTensor, {}, false,
            placeOfValue(side, ValueId(uint32_t(v))));
    }
}

void putCompared(RankedNames& names, const Comparison& comparison)
{
    for (size_t row = 0; row < comparison.activations.size(); ++row) {
        const std::string& name = comparison.activations[row].name;
        putName(names, name, kCompared, {}, false, {});
        Place& place = names[{ name, false }].place.place;
        const size_t shown = place.activation ? worseOfPairs(comparison, *place.activation, row) : row;
        place = Place();
        place.activation = shown;
    }
    for (size_t row = 0; row < comparison.weights.size(); ++row) {
        const std::string& name = comparison.weights[row].name;
        putName(names, name, kTensor, {}, false, {}); // though only its quantizer may read it
        NamedPlace& found = names[{ name, false }].place;
        found.note = tr("weight");
        found.place = Place();
        found.place.weight = row;
    }
}

/// Nodes of one unit become one entry, in the place of the first.
void joinUnits(RankedNames& names, const NamedUnits& units)
{
    for (const std::vector<std::string>& unit : units) {
        const auto first = unit.size() < 2 ? names.end() : names.find({ unit.front(), true });
        if (first == names.end())
            continue;
        NamedPlace& joined = first->second.place;
        for (size_t i = 1; i < unit.size(); ++i) {
            const auto part = names.find({ unit[i], true });
            if (part == names.end())
                continue;
            joined.name += QStringLiteral(" + ") + part->second.place.name;
            joined.note += QStringLiteral(" + ") + part->second.place.note;
            names.erase(part);
        }
    }
}

} // namespace

std::vector<NamedPlace> searchNames(const Snapshot& snapshot, const NamedUnits& units)
{
    RankedNames names;
    if (snapshot.floatModel)
        putModel(names, *snapshot.floatModel, Side::Float);
    if (snapshot.quantModel)
        putModel(names, *snapshot.quantModel, Side::Quantized);
    if (snapshot.comparison)
        putCompared(names, *snapshot.comparison);
    joinUnits(names, units);
    std::vector<NamedPlace> places;
    places.reserve(names.size());
    for (int rank = 0; rank < kRanks; ++rank)
        for (auto& [name, its] : names)
            if (its.rank == rank)
                places.push_back(std::move(its.place));
    return places;
}

} // namespace qs
