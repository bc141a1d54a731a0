// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/lesson/live/own_pair.h"

#include <utility>

namespace qs {

std::optional<Inputs> ownPairOf(const Snapshot& snapshot)
{
    if (!snapshot.comparison || snapshot.comparison->outputs.empty())
        return std::nullopt;
    Inputs inputs = snapshot.inputs;
    inputs.other = {}; // a lesson looks at two models
    inputs.shard.reset();
    return inputs;
}

Lesson withOwn(Lesson lesson, std::optional<Inputs> own)
{
    if (own && own->quantPath.empty() && !own->recipe)
        own->recipe = Recipe();
    lesson.own = std::move(own);
    if (lesson.taught() == lesson.steps.size())
        lesson.steps.insert(lesson.steps.end(), lesson.yours.begin(), lesson.yours.end());
    return lesson;
}

} // namespace qs
