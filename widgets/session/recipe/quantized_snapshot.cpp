// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/session/recipe/quantized_snapshot.h"

#include "core/project/snapshot/build_snapshot.h"

namespace qs {

Result<SnapshotPtr> quantizedSnapshot(const SnapshotPtr& shown, const Recipe& recipe, const JobContext& job)
{
    if (shown->quantization && shown->inputs.recipe == recipe)
        return shown;
    Inputs inputs = byRecipe(shown->inputs, recipe);
    inputs.compare = false;
    return buildSnapshot(inputs, shown, job.progress, job.cancel);
}

} // namespace qs
