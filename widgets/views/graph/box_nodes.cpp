// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/graph/box_nodes.h"

#include "widgets/session/recipe/recipe_view.h"

namespace qs {

BoxNodes::BoxNodes(const RecipeView& recipe, const Snapshot& snapshot, Side side)
    : m_recipe(recipe)
    , m_side(side)
{
    if (side == Side::Quantized && snapshot.alignment)
        for (const ValuePair& pair : snapshot.alignment->values)
            m_floatValues.try_emplace(pair.quantValue, pair.floatValue);
}

void BoxNodes::addPlaces(const DisplayBox& box, std::vector<Place>& places) const
{
    if (box.kind != DisplayBox::Kind::Operator)
        return;
    for (const ValueId value : box.values)
        if (const auto pair = m_floatValues.find(value); pair != m_floatValues.end()) {
            Place place;
            place.value = pair->second;
            places.push_back(place);
        }
    if (const NodeId node = box.mainNode(); node.valid()) {
        Place place;
        place.side = m_side;
        place.node = node;
        places.push_back(place);
    }
}

std::vector<size_t> BoxNodes::of(const FoldedGraph& graph, const std::vector<uint32_t>& boxes) const
{
    std::vector<Place> places;
    for (const uint32_t box : boxes)
        addPlaces(graph.boxes[box], places);
    return m_recipe.membersOf(places);
}

QString boxNote(const RecipeView& recipe, std::span<const size_t> members)
{
    const std::optional<TriState> state = recipe.state(members);
    if (!state)
        return {};
    const auto noteOf = [&](size_t member) {
        return nodeMarkText(recipe.mark(recipe.nodes()[member].name).value_or(NodeMark::Quantized));
    };
    if (state != TriState::Some)
        return noteOf(members.front());
    for (const size_t member : members)
        if (!recipe.states()[member].quantized)
            return QStringLiteral("%1: %2").arg(recipe.title({ &member, 1 }), noteOf(member));
    return {};
}

QString drawnNote(const QString& note)
{
    constexpr QChar kNextVariant(0x9c);
    for (const NodeMark mark : { NodeMark::FloatInDraft, NodeMark::QuantizedInDraft })
        if (note == nodeMarkText(mark))
            return note + kNextVariant + RecipeView::tr("in draft");
    return note;
}

} // namespace qs
