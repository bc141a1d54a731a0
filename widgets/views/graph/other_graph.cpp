// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/graph/other_graph.h"

#include "widgets/models/values/row_of_value.h"
#include "widgets/views/graph/graph_numbers.h"

namespace qs {

namespace {

/// The row that has B's as its own other one; by the tensor's name where none has.
void selectRowOfOther(Session& session, const Comparison& other, size_t row)
{
    const auto& own = session.snapshot()->comparison;
    for (size_t i = 0; own && i < own->activations.size(); ++i)
        if (own->activations[i].other && own->activations[i].other->row == row)
            return session.selection().selectActivation(i);
    session.selection().selectByName(other.activations[row].name);
}

/// B's row of the same float value.
template <class Row> std::optional<size_t> rowInOther(const std::vector<Row>& rows, std::optional<size_t> row)
{
    return row && *row < rows.size() && rows[*row].other ? std::optional(rows[*row].other->row) : std::nullopt;
}

} // namespace

SnapshotPtr otherOf(const Snapshot& snapshot) { return snapshot.other ? snapshot.other->snapshot : nullptr; }

Place placeInOther(const Snapshot& snapshot, Place place)
{
    place.activation = rowInOther(snapshot.comparison->activations, place.activation);
    place.weight = rowInOther(snapshot.comparison->weights, place.weight);
    if (place.side == Side::Quantized) { // ids of the first model
        place.node = {};
        place.value = {};
    }
    return place;
}

void selectFromOther(Session& session, const FoldedGraph& graph, uint32_t box)
{
    const SnapshotPtr other = otherOf(*session.snapshot());
    if (!other)
        return;
    const auto row = boxNumbers(*other, Side::Quantized, graph, Metric::Accumulated)[box].row;
    if (row)
        selectRowOfOther(session, *other->comparison, *row);
    else if (graph.boxes[box].mainNode().valid())
        session.selection().selectByName(other->quantModel->graph().node(graph.boxes[box].mainNode()).name);
}

void selectFromOther(Session& session, ValueId value)
{
    const SnapshotPtr other = otherOf(*session.snapshot());
    if (!other)
        return;
    if (const auto row = rowOfValue(*other, Side::Quantized, value))
        selectRowOfOther(session, *other->comparison, *row);
    else
        session.selection().selectByName(other->quantModel->graph().value(value).name);
}

} // namespace qs
