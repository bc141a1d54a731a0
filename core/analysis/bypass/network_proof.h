// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/pairs/compare_pair.h"
#include "core/base/work/work_context.h"

#include <optional>
#include <span>
#include <vector>

namespace qs {

/// Two networks whose outputs are further apart than this, relatively, are not the same.
inline constexpr double kSameNetwork = 1e-4;

/// Relative distance of a value of the bypassed quantized file from the float model's, |x - b| / |x|.
struct ValueDistance {
    ValueId floatValue;
    double distance = 0;
};

/// How far the two files are apart without their quantizers, on one sample.
struct NetworkDistance {
    ValueDistance worstOutput;
    std::optional<ValueDistance> firstApart; ///< in the float model's order, where the outputs differ
};

/// What the two files compute without quantizers, on one sample.
struct NetworkProof {
    std::optional<NetworkDistance> withFloatWeights; ///< both with the float model's
    /// Both with what the quantized file stores: where the first are apart or cannot be had.
    std::optional<NetworkDistance> withStoredWeights;
};

/// |x - y| / |x| over what is finite in both; infinite where x is zero and y is not.
double relativeDistance(std::span<const float> x, std::span<const float> y);

/// Runs the bypassed file (see bypass.h) and the float model on one sample, both with the float model's weights; where
/// these differ, or stored constants have no float partner, with those that are stored. Nothing where neither can be
/// made. `inputs`: of one sample, in the float graph's order. Beyond the memory limit nothing, or no place, is told.
std::optional<NetworkProof> proveNetwork(
    const ComparePair& pair, const std::vector<Tensor>& inputs, const WorkContext& work = {});

} // namespace qs
