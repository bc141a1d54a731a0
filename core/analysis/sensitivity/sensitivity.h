// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/sensitivity/exclusion_front.h"
#include "core/analysis/sensitivity/sensitivity_inputs.h"
#include "core/base/result.h"

#include <string>
#include <vector>

namespace qs {

struct UnitSensitivity {
    std::string name;
    std::string opType; ///< of a node; of a tensor "activation", "weight" or "bias"; else empty
    OutputScore alone; ///< only this unit quantized
    OutputScore without; ///< all but this unit quantized
    Number macShare; ///< of the Conv, Gemm and MatMul work of all units; null where sizes are unknown
};

/// What each unit does to the model's outputs, all else as the recipe says.
struct Sensitivity {
    UnitKind by = UnitKind::Node;
    size_t samples = 0;
    size_t asked = 0; ///< units that are to be measured; `units` holds fewer of them before it is finished
    OutputScore quantized; ///< all units
    std::vector<UnitSensitivity> units; ///< what buys most first
    /// Nothing excluded first; the quantized work shrinks (where it is not known, the number of exclusions grows), the
    /// noise falls.
    std::vector<Exclusion> pareto;
    double unitsMs = 0, exclusionsMs = 0; ///< how long it took
};

/// Quantizes each unit alone and leaves each out, exactly as the recipe with that include or exclude would, with the
/// ranges kept as they are; then, where exclusions are asked for, leaves out more and more of what buys most, single
/// units and whole blocks (unitBlocks, searchExclusions), measuring each choice. A unit that changes nothing costs no
/// run. Issues: what quantizing and running report; by tensor: a format other than Q/DQ.
Result<Sensitivity> measureSensitivity(const SensitivityInputs& inputs, const WorkContext& work);

} // namespace qs
