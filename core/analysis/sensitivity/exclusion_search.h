// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/sensitivity/variant_runs.h"

#include <span>
#include <vector>

namespace qs {

/// Units that are left in float together: one, or a block.
struct ExclusionMove {
    std::vector<size_t> units; ///< ascending
    OutputScore without; ///< all but these quantized
};

/// A choice of units and what it was measured to be worth.
struct MeasuredExclusion {
    std::vector<size_t> units; ///< ascending
    OutputScore score;
};

/// What a search needs to know of the units: what leaving one in float costs, and how choices are measured.
struct ExclusionCosts {
    std::vector<double> units; ///< positive, by unit
    std::function<Result<std::vector<OutputScore>>(const std::vector<std::vector<size_t>>& choices)> measure;
};

/// Leaves out more and more, each time the move that takes away most noise for what it costs. Gains of moves hide each
/// other, so the most promising ones are measured again beside what is chosen already; blocks are moves like units, so
/// that they are taken where single units do not pay. Ends where nothing helps, or the noise is a thousandth.
Result<std::vector<MeasuredExclusion>> searchExclusions(
    const OutputScore& quantized, std::vector<ExclusionMove> moves, const ExclusionCosts& costs);

} // namespace qs
