// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/snapshot/inputs.h"

namespace qs {

WorkContext workFor(const RunSettings& settings, const ProgressFn& progress, const CancelToken& cancel)
{
    return { progress, cancel, settings.threads, settings.memoryLimit };
}

Inputs byRecipe(Inputs inputs, const Recipe& recipe)
{
    inputs.quantPath.clear();
    inputs.mapPath.clear();
    inputs.links = {};
    inputs.recipe = recipe;
    return inputs;
}

} // namespace qs
