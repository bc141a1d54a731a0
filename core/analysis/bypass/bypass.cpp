// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/bypass/bypass.h"

#include "core/analysis/bypass/bypass_builder.h"

namespace qs {

Result<Bypassed> bypassQuantizers(const ComparePair& pair, const std::vector<PairPlan>& pairs, BypassedRanges ranges)
{
    BypassBuilder builder(pair, pairs, BypassBuilder::Weights::OfFloatModel, ranges);
    QS_TRY(const GraphDraft draft, builder.make());
    QS_TRY(const auto model, draft.build());
    return Bypassed { Plan::make(model, { KernelMode::Fast, ArithmeticProfile::Simulated, pair.lowered }),
        builder.ownConstants() };
}

} // namespace qs
