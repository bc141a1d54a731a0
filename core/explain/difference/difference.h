// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/pairs/compare_pair.h"
#include "core/analysis/values/model_value.h"
#include "core/explain/explanation/explanation.h"

#include <span>

namespace qs {

/// Adds the float network's numbers to all operands and the difference to each element that has a partner there. Each
/// explanation stands before what is behind it. `runs`: of the float network.
Status addDifferences(const ComparePair& pair, const SampleRuns& runs, size_t sample, const WorkContext& work,
    std::span<const std::shared_ptr<ElementExplanation>> chain);

} // namespace qs
