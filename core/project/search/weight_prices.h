// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/price/weight_prices.h"
#include "core/project/snapshot/snapshot.h"

namespace qs {

/// What is asked beside the snapshot; fields as in PriceInputs.
struct PriceRequest {
    std::vector<std::string> only;
    bool search = true;
    size_t steps = kPriceSteps;
    double seconds = std::numeric_limits<double>::infinity();
    PriceBudget budget;
};

/// Which weights of the float model deserve more bits, over the snapshot's samples, in its arithmetic, all else as its
/// recipe says. The snapshot must hold a float model and data. Issues: it has no recipe, and what measureWeightPrices
/// reports.
Result<WeightPrices> weightPricesOf(
    const Snapshot& snapshot, const PriceRequest& request, const ProgressFn& progress, const CancelToken& cancel);

/// A point of the list as a recipe, and the model that `quantize` makes by it.
struct PricedModel {
    Recipe recipe;
    GraphDraft prepared, draft;
};
Result<PricedModel> pricedModel(const Snapshot& snapshot, const WeightPrices& prices, const PricePoint& point,
    const ProgressFn& progress, const CancelToken& cancel);

} // namespace qs
