// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/pairs/provenance.h"
#include "core/analysis/tasks/output_task.h"
#include "core/engine/plan/plan.h"
#include "core/match/alignment.h"
#include "core/qdq/quant_view.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace qs {

/// Factors that the channels of a value of the float model have in the quantized file, where the next layers take them
/// away again (cross-layer equalization): what is compared with that file is the float value times these.
struct ValueFactors {
    std::vector<float> factors; ///< of equal parts of the axis of channels
    bool last = false; ///< the axis is the last one; else the second
};
using EqualizedValues = std::map<ValueId, ValueFactors>;

/// A branch of an If that no sample takes, in both files.
struct UntakenPair {
    std::string name; ///< "the else_branch of 'if'"
    std::shared_ptr<const Plan> floatPlan, quantPlan;
};

/// The two files of a comparison and how they correspond.
struct ComparePair {
    std::shared_ptr<const Plan> floatPlan;
    std::shared_ptr<const Plan> quantPlan; ///< what is measured
    std::shared_ptr<const QuantView> quantView;
    std::shared_ptr<const Alignment> alignment;
    std::shared_ptr<const Plan> writtenPlan = nullptr; ///< the file as written, when quantPlan is of an integer profile
    std::shared_ptr<const Provenance> provenance = nullptr; ///< null: a file, of which nothing more is known
    std::shared_ptr<LoweringCache> lowered = nullptr; ///< what plans of these files share; null: nothing
    TaskChoices tasks {}; ///< what the user says of the outputs
    /// What is taken as the float model holds quantizers: its values are no float network's, and what an activation
    /// does may lie in its quantizers alone.
    bool quantizedReference = false;
    std::shared_ptr<const EqualizedValues> equalized = nullptr; ///< null: none, or not known
    std::vector<UntakenPair> untaken {}; ///< of which nothing but the weights can be compared
};

} // namespace qs
