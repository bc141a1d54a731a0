// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/session/work_content.h"

namespace qs {

WorkContent WorkContent::of(const Asked& files, const WorkState& state, const RunTree& runs)
{
    WorkContent content { files, state.recipe, state.links, {} };
    content.files.recipe.reset();
    content.files.links = {};
    content.runs.reserve(runs.runs().size());
    for (const RecipeRun& run : runs.runs())
        content.runs.push_back({ run.id, run.name, run.note, run.recipe });
    return content;
}

} // namespace qs
