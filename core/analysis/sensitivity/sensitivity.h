// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/sensitivity/variant_runs.h"
#include "core/graph/draft.h"
#include "core/quant/calibrate/ranges.h"
#include "core/quant/recipe/recipe.h"
#include "core/quant/weight_only/weight_only.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// What is quantized alone or left in float.
enum class UnitKind { Node, Tensor, Type };
std::string_view unitKindName(UnitKind kind); ///< "node", "tensor", "type"
std::optional<UnitKind> unitKindOf(std::string_view name);

struct UnitSensitivity {
    std::string name;
    std::string opType; ///< of a node; of a tensor "activation", "weight" or "bias"; else empty
    OutputScore alone; ///< only this unit quantized
    OutputScore without; ///< all but this unit quantized
    Number macShare; ///< of the Conv, Gemm and MatMul work of all units; null where sizes are unknown
};

/// One choice of units to leave in float.
struct Exclusion {
    std::vector<std::string> excluded; ///< unit names
    Number quantizedMacShare; ///< of all Conv, Gemm and MatMul work
    OutputScore score;
};

/// What each unit does to the model's outputs, all else as the recipe says.
struct Sensitivity {
    UnitKind by = UnitKind::Node;
    size_t samples = 0;
    OutputScore quantized; ///< all units
    std::vector<UnitSensitivity> units; ///< what buys most first
    /// Nothing excluded first; the quantized work shrinks (where it is not known, the number of exclusions grows), the
    /// noise falls.
    std::vector<Exclusion> pareto;
    double unitsMs = 0, exclusionsMs = 0; ///< how long it took
};

/// Of these, the best of each number of excluded units that is better than all with fewer: both grow.
std::vector<Exclusion> byNumber(const std::vector<Exclusion>& pareto);

struct SensitivityInputs {
    std::shared_ptr<const Model> model; ///< the float model, whose outputs are the reference
    const GraphDraft* prepared = nullptr; ///< the float model that is quantized (Quantization::prepared)
    Recipe recipe;
    Ranges ranges;
    std::shared_ptr<const ReadyBlocks> blocks; ///< of weights, where data chose the codes; may be null
    std::shared_ptr<const DataSource> data;
    UnitKind by = UnitKind::Node;
    std::vector<std::string> only; ///< patterns of unit names: the others are not measured; empty: all are
    bool exclusions = true; ///< false: only one unit at a time is left out, which needs about half the runs
    ArithmeticProfile profile = ArithmeticProfile::Simulated;
    std::shared_ptr<LoweringCache> lowered; ///< null: one of its own
    VariantRuns::Options runs;
};

/// Quantizes each unit alone and leaves each out, exactly as the recipe with that include or exclude would, with the
/// ranges kept as they are; then, where exclusions are asked for, leaves out more and more of what buys most, single
/// units and whole blocks (unitBlocks, searchExclusions), measuring each choice. A unit that changes nothing costs no
/// run. Issues: what quantizing and running report; by tensor: a format other than Q/DQ.
Result<Sensitivity> measureSensitivity(
    const SensitivityInputs& inputs, const ProgressFn& progress, const CancelToken& cancel);

} // namespace qs
