// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/measured.h"

namespace qs {

/// From this on two networks are not the same.
inline constexpr double kSameNetwork = 1e-4;

/// Runs the bypassed file (see bypass.h) and the float model on one sample. Nothing where it cannot be made, or holds
/// constants without a float partner. `inputs`: of one sample, in the float graph's order. `memoryLimit`: bytes of
/// tensors, 0 = none; beyond it nothing, or no place, is told.
std::optional<NetworkProof> proveNetwork(
    const ComparePair& pair, const std::vector<Tensor>& inputs, uint64_t memoryLimit, const CancelToken& cancel);

} // namespace qs
