// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/arithmetic/arithmetic_table.h"
#include "core/project/arithmetic/saturation_trials.h"

namespace qs {

/// All about sums that saturate, as a report says it.
struct SaturationLab {
    ArithmeticTable table;
    SaturationTrials trials;
};

} // namespace qs
