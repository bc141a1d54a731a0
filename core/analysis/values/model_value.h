// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/pairs/pair_plan.h"
#include "core/analysis/values/elements.h"
#include "core/base/work/work_context.h"
#include "core/data/data_source.h"
#include "core/engine/run/activation_cache.h"
#include "core/engine/run/carry.h"

#include <memory>

namespace qs {

/// One value of one model, with the codes that it is made of.
struct ModelValue {
    std::shared_ptr<const Plan> plan;
    ValueId value; ///< may hold the codes themselves
    NodeId beforeRounding; ///< take what this node has before it rounds
    ValueId codes; ///< invalid: none that could be read
    ValueId dynamicScale, dynamicZero; ///< computed parameters of the codes
    QuantParams params; ///< of the codes where they are not computed
    bool constant() const { return plan->constant(value) != nullptr && !beforeRounding.valid(); }
};

/// A value with the quantizer that the view has for it. `view` may be null.
ModelValue modelValue(std::shared_ptr<const Plan> plan, const QuantView* view, ValueId value);
/// The quantized side of a pair.
ModelValue quantizedValue(const ComparePair& pair, const PairPlan& plan);

/// The samples of a comparison, and what a run of one of its models takes of them.
struct SampleRuns {
    std::shared_ptr<const DataSource> data;
    std::shared_ptr<const Plan> fed; ///< the model whose inputs the data are for
    CarryNames carry;
    std::shared_ptr<ActivationCache> activations; ///< of earlier runs of this model; may be null
};

/// Says that there is no such sample; counted from 0.
Status checkSample(const DataSource& data, size_t sample);

/// A constant value.
Result<Elements> constantElements(const ModelValue& value);
/// The value for one sample: runs what it needs, with carried state all samples up to this one.
Result<Elements> sampleElements(
    const ModelValue& value, const SampleRuns& runs, size_t sample, const WorkContext& work);

} // namespace qs
