// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/measure/measured.h"
#include "core/analysis/rows/comparison.h"

#include <map>
#include <vector>

namespace qs {

/// Turns sums into the rows that people see (samples that are done only).
void fillActivations(const ComparePair& pair, const Measured& measured, Comparison& result);
/// Tells what a node's own weights made from what it inherited; after the activations.
void splitWeightNoise(const ComparePair& pair, Comparison& result);
void fillImplementation(const ComparePair& pair, Measured& measured, Comparison& result);
void fillOutputs(
    const ComparePair& pair, const Measured& measured, const std::vector<int64_t>& labels, Comparison& result);
/// Inputs, coverage of ranges, equal samples; after the activations.
void fillSamples(const ComparePair& pair, const Measured& measured, Comparison& result);

/// In node order, for people.
std::vector<SaturationRow> saturationRows(const Plan& plan, const std::map<NodeId, PairCounts>& counts);

} // namespace qs
