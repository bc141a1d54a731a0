// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/pairs/compare_pair.h"
#include "core/engine/run/execution.h"

#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace qs {

/// A border through both models: what lies behind it follows from these pairs of values, and from whole numbers that
/// both compute from the inputs alone.
struct ValueCut {
    size_t tasks = 0; ///< of the float model's schedule that lie before it
    std::vector<std::pair<ValueId, ValueId>> values; ///< float, quantized; floating-point numbers in either
};

/// Two models that can change places at borders.
struct CutModels {
    std::shared_ptr<const Schedule> floatSchedule, quantSchedule; ///< of the outputs and all values of the cuts
    std::map<ValueId, ValueId> partners; ///< real values of both, by float value, that can take each other's place
    std::vector<ValueCut> cuts; ///< in order; between two of them, before the first and behind the last lies a unit
};

/// All borders before the outputs `x` of the float and `y` of the quantized model.
Result<CutModels> cutModels(const ComparePair& pair, ValueId x, ValueId y);

} // namespace qs
