// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/bypass/bypass.h"

#include "core/analysis/bypass/bypass_builder.h"

namespace qs {

std::optional<Bypassed> bypassQuantizers(const ComparePair& pair, const std::vector<PairPlan>& pairs)
{
    BypassBuilder builder(pair, pairs, BypassBuilder::Weights::OfFloatModel);
    const auto draft = builder.make();
    if (!draft)
        return std::nullopt;
    const auto model = draft->build();
    if (!model.ok())
        return std::nullopt;
    return Bypassed { Plan::make(*model), builder.ownConstants() };
}

} // namespace qs
