// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/lockstep/measured.h"

#include <span>

namespace qs {

/// |x - y| / |x| over what is finite in both; infinite where x is zero and y is not.
double relativeDistance(std::span<const float> x, std::span<const float> y);

/// Runs the bypassed file (see bypass.h) and the float model on one sample, both with the float model's weights; where
/// these differ, or stored constants have no float partner, with those that are stored. Nothing where neither can be
/// made. `inputs`: of one sample, in the float graph's order. `memoryLimit`: bytes of
/// tensors, 0 = none; beyond it nothing, or no place, is told.
std::optional<NetworkProof> proveNetwork(
    const ComparePair& pair, const std::vector<Tensor>& inputs, uint64_t memoryLimit, const CancelToken& cancel);

} // namespace qs
