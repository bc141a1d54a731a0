// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/sensitivity/unit_kind.h"
#include "core/analysis/sensitivity/variant_runs.h"
#include "core/graph/draft.h"
#include "core/quant/params/kept_codes.h"
#include "core/quant/ranges/ranges.h"
#include "core/quant/recipe/recipe.h"
#include "core/quant/weight_only/weight_only.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace qs {

struct Sensitivity;

/// What is asked of the sensitivity of a model's outputs to its units.
struct SensitivityInputs {
    std::shared_ptr<const Model> model; ///< the float model, whose outputs are the reference
    const GraphDraft* prepared = nullptr; ///< the float model that is quantized (Quantization::prepared)
    Recipe recipe;
    Ranges ranges;
    std::shared_ptr<const ReadyBlocks> blocks; ///< of weights, where data chose the codes; may be null
    std::shared_ptr<const KeptCodes> fileCodes; ///< that the recipe takes from a file; may be null
    std::shared_ptr<const DataSource> data;
    UnitKind by = UnitKind::Node;
    std::vector<std::string> only; ///< patterns of unit names: the others are not measured; empty: all are
    bool exclusions = true; ///< false: only one unit at a time is left out, which needs about half the runs
    ArithmeticProfile profile = ArithmeticProfile::Simulated;
    std::shared_ptr<LoweringCache> lowered; ///< null: one of its own
    VariantRuns::Options runs;
    std::function<void(const Sensitivity&)> partial; ///< told now and then of the units so far, ranked; may be empty
};

} // namespace qs
