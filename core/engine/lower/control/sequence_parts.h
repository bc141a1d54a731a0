// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/lower/common/movement.h"
#include "core/engine/registry/registry.h"

namespace qs {

/// Elements of a required input; an Issue when it is no sequence.
Result<std::span<const Tensor>> sequenceInput(const StepContext& s, size_t i);

/// A step that makes values which need not be tensors. They are never constants, hence never folded.
template <RunFn run> Result<LoweredNode> makingContainers(const LowerContext& c)
{
    QS_TRY(LoweredNode lowered, copying<run>(c));
    lowered.foldable = false;
    return lowered;
}
/// A step that gets them, too.
template <RunFn run> Result<LoweredNode> onContainers(const LowerContext& c)
{
    QS_TRY(LoweredNode lowered, makingContainers<run>(c));
    lowered.takesContainers = true;
    return lowered;
}

void lowerMaps(LoweringRegistry&); ///< ZipMap, DictVectorizer, CastMap of ai.onnx.ml; called by lowerSequences()

} // namespace qs
