// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/fuse/fuse.h"

#include "core/engine/fuse/code_tables.h"
#include "core/engine/fuse/coded_results.h"
#include "core/engine/fuse/conv_bands.h"
#include "core/engine/fuse/element_chains.h"
#include "core/engine/fuse/integer_units.h"

#include <algorithm>
#include <iterator>

namespace qs {

std::vector<FusedUnit> fuseUnits(const LoweredGraph& lowered, const PlanOptions& options)
{
    std::vector<FusedUnit> units;
    if (options.profile != ArithmeticProfile::Simulated)
        units = integerUnits(lowered, options);
    if (options.mode != KernelMode::Fast)
        return units;
    std::vector<bool> taken(lowered.graph().nodes().size(), false);
    for (const FusedUnit& unit : units)
        for (NodeId id : unit.nodes)
            taken[id.index()] = true;
    std::vector<FusedUnit> chains = elementChains(lowered, taken);
    std::vector<FusedUnit> bands = convBands(lowered, chains, taken);
    std::vector<FusedUnit> floats;
    std::ranges::move(chains, std::back_inserter(floats));
    std::ranges::move(bands, std::back_inserter(floats));
    std::vector<FusedUnit> coded = codedResults(lowered, floats, taken);
    std::vector<FusedUnit> tables = codeTables(lowered, coded); // later ones replace what ends at the same node
    std::ranges::move(floats, std::back_inserter(units));
    std::ranges::move(coded, std::back_inserter(units));
    std::ranges::move(tables, std::back_inserter(units));
    return units;
}

} // namespace qs
