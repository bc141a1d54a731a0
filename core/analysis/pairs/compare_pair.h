// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/pairs/provenance.h"
#include "core/analysis/tasks/output_task.h"
#include "core/engine/plan/plan.h"
#include "core/match/alignment.h"
#include "core/qdq/quant_view.h"

#include <memory>

namespace qs {

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
};

} // namespace qs
