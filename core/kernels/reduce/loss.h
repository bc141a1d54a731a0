// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/kernels/reduce/norm.h"

#include <optional>

namespace qs {

/// Losses of `outer` x `inner` places from logarithms of probabilities over the `size` classes of the middle axis.
/// Every target must be a class or `ignored`; `classWeights` may be null. `losses` and `weights` (of the places, 0
/// where ignored) hold outer x inner elements. T: float and double.
template <class T>
void likelihoodLosses(const AxisShape& s, const T* logarithms, const int64_t* targets, const T* classWeights,
    std::optional<int64_t> ignored, T* losses, T* weights) noexcept;

} // namespace qs
