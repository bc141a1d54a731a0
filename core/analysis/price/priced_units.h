// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/price/weight_ladder.h"
#include "core/graph/draft.h"
#include "core/quant/weight_only/weight_only.h"

#include <memory>
#include <string>
#include <vector>

namespace qs {

/// A weight that products multiply with, and that may be stored as this or that.
struct PricedUnit {
    std::string name; ///< of the first node
    std::string opType, weight;
    std::string layer; ///< by the scopes of its name; empty: none
    std::vector<std::string> nodes; ///< that read the weight, and what goes by their names
};

/// What each unit is stored as: an index into the ladder.
using StoreChoice = std::vector<size_t>;

/// The recipe stores the unit so; `fewest`: as all of which it says nothing else.
void setStore(Recipe& recipe, const PricedUnit& unit, const WeightStore& store, bool fewest);

/// A float model and what a weight-only recipe can make of its weights. Nodes to which the recipe gives a type of their
/// own keep it and are no units.
class PricedUnits {
public:
    /// Units that a pattern of `only` names (empty: all); the others stay at the fewest bits. `blocks`: found with data
    /// for each type of the ladder, or null. Issues: another format, no such weight, what quantizing reports.
    static Result<PricedUnits> make(const GraphDraft& prepared, const Recipe& recipe,
        std::shared_ptr<const ReadyBlocks> blocks, const std::vector<std::string>& only, size_t threads);

    const std::vector<WeightStore>& ladder() const { return m_ladder; }
    const std::vector<PricedUnit>& units() const { return m_units; }
    const GraphDraft& prepared() const { return m_prepared; }
    StoreChoice allAt(size_t store) const { return StoreChoice(m_units.size(), store); }

    /// The recipe that stores the units so, all else as `from` says.
    Recipe recipe(Recipe from, const StoreChoice& choice) const;
    Result<GraphDraft> model(const StoreChoice& choice) const;
    /// One unit in codes, all else float.
    Result<GraphDraft> alone(size_t unit, size_t store) const;

private:
    PricedUnits(GraphDraft prepared, const Recipe& recipe)
        : m_prepared(std::move(prepared))
        , m_recipe(recipe)
        , m_ladder(weightLadder(recipe))
    {
    }
    Status find(FloatModel& model);
    void add(const DraftNode& node, const std::string& weight);
    Status keep(const std::vector<std::string>& only);
    Result<GraphDraft> quantized(const Recipe& recipe) const;

    GraphDraft m_prepared;
    Recipe m_recipe; ///< at the fewest bits
    std::vector<WeightStore> m_ladder;
    std::vector<PricedUnit> m_units;
    std::shared_ptr<const ReadyBlocks> m_blocks;
    std::shared_ptr<MadeConstants> m_made = std::make_shared<MadeConstants>();
    size_t m_threads = 1;
};

/// Of all constants that a file of the draft holds, bodies of control flow included.
uint64_t constantBytes(const GraphDraft& draft);

/// What a weight takes in a file, and what it takes as a float.
struct StoredBytes {
    uint64_t codes = 0; ///< codes, scales, zero points, and what their operators need beside them
    uint64_t floats = 0; ///< of the float constant that is gone; 0 where something else reads it
};
/// Of the weight that alone is in codes in `alone`.
StoredBytes storedBytes(const GraphDraft& prepared, const GraphDraft& alone);

} // namespace qs
