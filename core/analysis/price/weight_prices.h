// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/price/price_search.h"
#include "core/analysis/sensitivity/variant_runs.h"

#include <limits>

namespace qs {

/// What the outputs lose by quantizing, as far as they tell.
enum class PriceLoss {
    Divergence, ///< mean KL of the guessed tokens' distribution, where an output guesses tokens
    Noise, ///< noise of all outputs
};
/// Infinite where it cannot be told.
double lossOf(const OutputScore& score, PriceLoss by);

/// A limit to choose a point of a Pareto list by; one of them.
struct PriceBudget {
    std::optional<uint64_t> maxBytes; ///< then the least loss
    std::optional<double> maxKl; ///< mean, natural logarithm; then the fewest bytes
    std::optional<double> minSqnrDb; ///< of all outputs together; then the fewest bytes
    bool given() const { return maxBytes || maxKl || minSqnrDb; }
};

inline constexpr size_t kPriceSteps = 64;

/// What is asked of the price of a model's weights.
struct PriceInputs {
    std::shared_ptr<const Model> model; ///< the float model, whose outputs are the reference
    const GraphDraft* prepared = nullptr; ///< the float model that is quantized
    Recipe recipe; ///< weight-only
    std::shared_ptr<const ReadyBlocks> blocks; ///< for each type of the ladder, where data choose the codes; else null
    std::shared_ptr<const DataSource> data;
    std::vector<std::string> only; ///< patterns of units; empty: all
    bool search = true; ///< false: only the units alone, and all of them at one type
    size_t steps = kPriceSteps; ///< of the search
    double seconds = std::numeric_limits<double>::infinity(); ///< after which no step begins
    PriceBudget budget;
    ArithmeticProfile profile = ArithmeticProfile::Simulated;
    std::shared_ptr<LoweringCache> lowered; ///< null: one of its own
    VariantRuns::Options runs;
};

/// A unit by what it is stored as; entries in the ladder's order.
struct UnitPrice {
    PricedUnit unit;
    std::vector<uint64_t> bytes; ///< in the file
    std::vector<OutputScore> alone; ///< all else float
};

/// A whole model.
struct PricePoint {
    StoreChoice choice; ///< of the units, in their order
    uint64_t bytes = 0; ///< of all constants that its file holds
    OutputScore score;
    bool step = false; ///< all units at one type, or what the search began with or left; else it only tried it
};

/// Which weights deserve more bits.
struct WeightPrices {
    std::vector<WeightStore> ladder;
    PriceLoss by = PriceLoss::Noise;
    size_t samples = 0;
    std::vector<UnitPrice> units; ///< in graph order
    std::vector<PricePoint> references; ///< all units at each entry of the ladder
    std::vector<PricePoint> pareto; ///< of all that was measured: bytes grow, the loss falls
    size_t steps = 0; ///< that the search took
    std::optional<PriceStop> stop; ///< why it ended; nullopt: there was none
    double unitsMs = 0, searchMs = 0;
};

/// Measures each unit alone in each type, all of them in one, and then raises one after the other (searchPrices) from
/// where all take the fewest bytes. Weights are quantized once for each type, and what a model has in common with the
/// float model or the step before is not run again. Issues: those of PricedUnits, a budget below all that there is, one
/// that the outputs cannot be held to, what running reports.
Result<WeightPrices> measureWeightPrices(const PriceInputs& inputs, const WorkContext& work);

/// The point that the budget chooses. Issues: nothing keeps it; none is given.
Result<PricePoint> chosenPoint(const WeightPrices& prices, const PriceBudget& budget);

/// No other of them has fewer bytes and no more loss; by bytes.
std::vector<PricePoint> priceFront(std::vector<PricePoint> points, PriceLoss by);

} // namespace qs
