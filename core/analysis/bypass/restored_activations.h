// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/pairs/pair_plan.h"
#include "core/base/work/work_context.h"

#include <optional>
#include <vector>

namespace qs {

/// SQNR of the worst output on one sample, in dB, at most kExactDb.
struct RestoredOutput {
    double asIsDb = 0; ///< of the quantized file
    double restoredDb = 0; ///< with the activations that it lost put back
    double lostDb() const { return restoredDb - asIsDb; }
    bool matterLittle() const { return lostDb() < kLittleLostDb; }
    static constexpr double kLittleLostDb = 0.5;
};
inline constexpr double kExactDb = 180;

/// Runs both files and the quantized one with the activations that `pairs` call lost. Nothing where none is, or where
/// they cannot be put back (Clip of an opset before 12). `inputs`: of one sample, in the float graph's order.
std::optional<RestoredOutput> restoredOutput(const ComparePair& pair, const std::vector<PairPlan>& pairs,
    const std::vector<Tensor>& inputs, const WorkContext& work = {});

} // namespace qs
