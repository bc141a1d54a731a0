// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/pairs/compare_pair.h"
#include "core/analysis/values/model_value.h"
#include "core/base/result.h"
#include "core/base/work/work_context.h"
#include "core/explain/explanation/explanation.h"
#include "core/qdq/quant_view.h"

namespace qs {

/// A model whose values are explained.
struct ExplainedModel {
    std::shared_ptr<const Plan> plan; ///< of the arithmetic that is asked for
    std::shared_ptr<const QuantView> view; ///< may be null
    ArithmeticProfile profile = ArithmeticProfile::Simulated; ///< of the plan
    const ComparePair* pair = nullptr; ///< with the float network, where the model is its quantized side; may be null
    std::shared_ptr<ActivationCache> floatActivations = {}; ///< of earlier runs of that network; may be null
};

struct ElementAt {
    ValueId value;
    Shape at; ///< as many as the tensor has axes, the batch included
    size_t sample = 0; ///< the feed that holds it is run; with carried state all before it, too
    bool withinSample = false; ///< of a batch of several samples `at` counts in the part that is this sample's
};

/// Where an element comes from, bit for bit as the engine computed it. Takes as long as running both models up to
/// there. An Issue says what does not exist: a value inside a fused unit, a place outside of the tensor, a sample.
Result<ElementExplanation> explainElement(
    const ExplainedModel& model, const ElementAt& place, const SampleRuns& runs, const WorkContext& work);

} // namespace qs
