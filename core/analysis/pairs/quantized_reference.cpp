// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/pairs/quantized_reference.h"

namespace qs {

bool isReferenceQuantized(const ComparePair& pair)
{
    const Plan& plan = *pair.floatPlan;
    return QuantView::of(plan.graph(), [&](ValueId id) { return plan.constant(id); }).form() != QuantForm::Float;
}

} // namespace qs
