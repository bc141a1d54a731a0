// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/search/sensitivity.h"

#include "core/base/work/memory.h"

#include <algorithm>

namespace qs {

Result<Sensitivity> sensitivityOf(const Snapshot& snapshot, UnitKind by, const std::vector<std::string>& only,
    const ProgressFn& progress, const CancelToken& cancel, bool exclusions,
    const std::function<void(const Sensitivity&)>& partial)
{
    const Inputs& from = snapshot.inputs;
    if (!snapshot.quantization || !from.recipe)
        return badUse("a quantized file has no units that could be left out", "give the float model and a recipe");
    SensitivityInputs inputs;
    inputs.model = snapshot.floatFile->model;
    inputs.prepared = &snapshot.quantization->prepared;
    inputs.recipe = snapshot.quantization->recipe;
    inputs.ranges = snapshot.quantization->ranges;
    inputs.blocks = snapshot.quantization->blocks;
    inputs.fileCodes = snapshot.quantization->fileCodes;
    inputs.data = snapshot.data;
    inputs.by = by;
    inputs.only = only;
    inputs.exclusions = exclusions;
    inputs.profile = from.profile;
    inputs.lowered = snapshot.caches.lowered;
    inputs.runs = { .cacheBytes = defaultActivationCache(), .carry = from.carry, .tasks = from.tasks };
    inputs.partial = partial;
    return measureSensitivity(inputs, workFor(from, progress, cancel));
}

} // namespace qs
