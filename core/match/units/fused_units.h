// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/match/alignment.h"

namespace qs {

/// Finds what one file computes in a single node and the other in several (fused operators, folded normalizations and
/// biases, either way round): where both give the same value from the same values, and everything between has no
/// partner. Those values are taken out of the lists of what is unmatched; of the others it says why they are alone,
/// where that is known. Needs final pairs and links.
void addUnits(const Plan& floatPlan, const Plan& quantPlan, const QuantView& quantView, Alignment& alignment);

} // namespace qs
