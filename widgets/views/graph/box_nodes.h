// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/layout/folded_graph.h"
#include "core/project/snapshot/snapshot.h"
#include "widgets/models/base/place.h"

#include <QString>

#include <span>
#include <unordered_map>
#include <vector>

namespace qs {

class RecipeView;

/// The nodes of the recipe that boxes stand for.
class BoxNodes {
public:
    /// `side`: the graph that the boxes are of. Both stay referred to.
    BoxNodes(const RecipeView& recipe, const Snapshot& snapshot, Side side);
    /// All of these boxes of a graph together, whole units; none of the model's inputs and outputs.
    std::vector<size_t> of(const FoldedGraph& graph, const std::vector<uint32_t>& boxes) const;

private:
    void addPlaces(const DisplayBox& box, std::vector<Place>& places) const;

    const RecipeView& m_recipe;
    Side m_side;
    std::unordered_map<ValueId, ValueId> m_floatValues; ///< by quantized value
};

/// "left in float", "excluded in draft", "conv_3 alone left in float"; "" where all of it is quantized as it is shown.
QString boxNote(const RecipeView& recipe, std::span<const size_t> members);
/// The same with what a narrow box says in its place: variants as QFontMetrics::elidedText() chooses them.
QString drawnNote(const QString& note);

} // namespace qs
