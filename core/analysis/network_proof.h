// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/measured.h"

namespace qs {

/// From this on two networks are not the same.
inline constexpr double kSameNetwork = 1e-4;

/// Q/DQ files: every pair is replaced by the activation that it stands for, every weight and bias by its float partner.
/// Nothing where that cannot be done: other forms, constants without a partner. `inputs`: of one sample, in the float
/// graph's order.
std::optional<NetworkProof> proveNetwork(
    const ComparePair& pair, const std::vector<Tensor>& inputs, const CancelToken& cancel);

} // namespace qs
