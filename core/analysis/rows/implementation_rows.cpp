// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/rows/fill_rows.h"

namespace qs {

std::vector<SaturationRow> saturationRows(const Plan& plan, const std::map<NodeId, PairCounts>& counts)
{
    std::vector<SaturationRow> rows;
    for (const auto& [last, sum] : counts) {
        const FusedUnit* unit = plan.unit(last);
        const NodeId id = unit ? unit->node : last;
        const Node& node = plan.graph().node(id);
        if (sum.pairs > 0)
            rows.push_back({ id, node.name, node.opType, sum.pairs, sum.saturated, sum.worst });
    }
    return rows;
}

void fillImplementation(const ComparePair& pair, Measured& m, Comparison& result)
{
    if (!pair.writtenPlan)
        return;
    const std::lock_guard lock(m.implementation.mutex);
    for (ActivationRow& row : result.activations) {
        if (!row.quantizer)
            continue;
        const auto it = m.implementation.codes.find(pair.quantView->quantizers()[*row.quantizer].codes);
        if (it == m.implementation.codes.end() || it->second.count == 0)
            continue;
        const auto count = static_cast<double>(it->second.count);
        row.implementation = { double(it->second.offByOne) / count, double(it->second.beyond) / count, {} };
        if (row.params.scale.size() == 1) {
            const double scale = row.params.scale[0];
            row.implementation->noisePower = scale * scale * double(it->second.squares) / count;
        }
    }
    result.saturation = saturationRows(*pair.quantPlan, m.implementation.pairs);
}

} // namespace qs
