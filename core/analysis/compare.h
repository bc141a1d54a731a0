// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/lockstep/measure_models.h"
#include "core/analysis/rows/comparison.h"

namespace qs {

/// The numbers that follow, of the samples that are done. Sums are added in sample order: equal bits for any number of
/// threads and shards. `labels`: of all samples, or empty.
Comparison summarize(const ComparePair& pair, ArithmeticProfile profile, Measured& measured,
    const std::vector<int64_t>& labels, std::vector<WeightRow> weights);

/// The files with what is known of their weights: measureModels() and summarize() take equalized layers from it.
ComparePair withEqualized(ComparePair pair, const std::vector<WeightRow>& weights);

/// All of it in one step.
Result<Comparison> compareModels(const ComparePair& pair, const DataSource& data, const CompareOptions& options,
    const WorkContext& work = {}, const std::function<void(Comparison)>& partial = {});

} // namespace qs
