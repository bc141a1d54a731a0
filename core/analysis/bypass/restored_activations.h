// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/pairs/fed_model.h"
#include "core/analysis/pairs/pair_plan.h"
#include "core/base/work/work_context.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace qs {

inline constexpr double kExactDb = 180;

/// SQNR of the worst output, in dB, at most kExactDb; of outputs that are zero in the float model only where all are:
/// then -kExactDb stands for other numbers.
struct RestoredOutput {
    double asIsDb = 0; ///< of the quantized file
    double restoredDb = 0; ///< with the activations that it lost put back
    uint64_t samples = 0; ///< that were run, those of the largest error; 0: all of the comparison
    double lostDb() const { return restoredDb - asIsDb; }
    bool matterLittle() const { return lostDb() < kLittleLostDb; }
    bool hasSignal() const { return asIsDb > -kExactDb; }
    bool isExact() const { return restoredDb >= kExactDb; }
    static constexpr double kLittleLostDb = 0.5;
};

/// Runs both files, and the quantized one with the activations that pairs call lost, on one sample after the other.
class RestoredRuns {
public:
    /// Nothing where no activation is lost, or where they cannot be put back (Clip of an opset before 12).
    static std::optional<RestoredRuns> make(const ComparePair& pair, const std::vector<PairPlan>& pairs);
    /// `inputs`: of one feed, in the float graph's order. What putting them back takes from the noise of an output, at
    /// most, over its signal; nothing where one of the files cannot be run.
    std::optional<double> add(const std::vector<Tensor>& inputs, const WorkContext& work = {});
    /// Of all feeds so far, together.
    RestoredOutput result() const;

private:
    struct Sums {
        double signal = 0, asIs = 0, restored = 0; ///< squares: of the float model, of the errors
    };
    RestoredRuns(const ComparePair& pair, std::shared_ptr<const Plan> restored);
    const std::shared_ptr<const Plan> m_floatPlan, m_asIs, m_restored;
    std::vector<ValueId> m_x, m_y, m_z; ///< outputs of the three
    FedModel m_fed;
    std::vector<Sums> m_sums; ///< by output
};

} // namespace qs
