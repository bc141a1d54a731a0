// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/bypass/network_outputs.h"
#include "core/analysis/bypass/network_run.h"
#include "core/analysis/rounding/precision_step.h"
#include "core/base/result.h"
#include "core/base/work/work_context.h"

namespace qs {

/// How far rounding moves values of a network: for each the largest relative distance in several runs, the first with
/// constants rounded to the step's precision, the others with errors of that size drawn at random; where nodes make
/// values of this type, these are treated alike. The precision is that of `step`, float32 where that has none: then
/// only sums and functions round, by some units in the last place.
/// Of what counts on the sample.
Result<std::vector<double>> explainedDistances(const TwoNetworks& networks, const PrecisionStep& step,
    const std::vector<ValueOfBoth>& values, const ProofSample& sample, const ComparePair& pair,
    const WorkContext& work);

} // namespace qs
