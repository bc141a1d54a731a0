// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/pairs/compare_pair.h"
#include "core/base/work/work_context.h"
#include "core/match/evidence/value_evidence.h"

#include <memory>
#include <optional>
#include <vector>

namespace qs {

using SampleInputs = std::vector<std::vector<Tensor>>; ///< by sample: inputs in the float graph's order

/// Sketches of everything that a network computes, by value of its own graph. Each value is dropped once it is
/// sketched. Nothing where the network does not run. `floatPlan`: whose inputs the samples follow.
std::optional<Sketches> sketchRun(const std::shared_ptr<const Plan>& plan, const std::shared_ptr<const Plan>& floatPlan,
    const SampleInputs& samples, const WorkContext& work);

/// What both networks compute.
struct Evidence {
    ValueEvidence values;
    std::shared_ptr<const Plan> plan; ///< what was run for the quantized file, under its names
    bool sameOutputs = false; ///< it computes what the float model does
};

/// Runs the quantized file without its quantizers, or as it is where this cannot be made, and sketches it by value of
/// its graph. With what the float model computes it is the evidence for pairs. Nothing where neither runs.
/// `floats`: of the float model; made at the same time where they are not there yet.
std::optional<Evidence> evidenceOf(
    const ComparePair& pair, std::optional<Sketches>& floats, const SampleInputs& samples, const WorkContext& work);

} // namespace qs
