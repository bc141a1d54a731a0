// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/sensitivity/exclusion_search.h"

#include <string>
#include <vector>

namespace qs {

class QuantizedUnits;

/// One choice of units to leave in float.
struct Exclusion {
    std::vector<std::string> excluded; ///< unit names
    Number quantizedMacShare; ///< of all multiplications
    OutputScore score;
};

/// Of all that was tried, what no other choice beats in work and in noise. `ranking`: units, those first that buy most;
/// names come in this order.
std::vector<Exclusion> exclusionFront(
    std::vector<MeasuredExclusion> tried, const QuantizedUnits& units, const std::vector<size_t>& ranking);

/// Of these, the best of each number of excluded units that is better than all with fewer: both grow.
std::vector<Exclusion> byNumber(const std::vector<Exclusion>& pareto);

} // namespace qs
