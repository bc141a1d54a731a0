// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/session/lesson/setup_change.h"

#include "core/quant/recipe/recipe_json.h"
#include "widgets/session/session.h"

namespace qs {

namespace {

bool sameFiles(Inputs a, Inputs b)
{
    a.recipe.reset();
    b.recipe.reset();
    a.links = b.links = {};
    return a.asked() == b.asked();
}

/// The merge patch that makes `to` of `from`; null where they are equal.
LessonJson patch(const LessonJson& from, const LessonJson& to)
{
    LessonJson changes;
    for (const auto& [key, value] : to.items()) {
        const auto before = from.find(key);
        if (before == from.end()) {
            changes[key] = value;
            continue;
        }
        if (*before == value)
            continue;
        changes[key] = before->is_object() && value.is_object() ? patch(*before, value) : value;
    }
    for (const auto& [key, value] : from.items())
        if (!to.contains(key))
            changes[key] = nullptr;
    return changes;
}

} // namespace

void changeTo(Session& session, const Inputs& inputs, const QString& text)
{
    const bool opens = session.work() == Session::Work::Opening || !sameFiles(session.files(), inputs);
    if (!opens && inputs.recipe && session.recipe().editable()) {
        session.recipe().apply(text, *inputs.recipe);
        return;
    }
    if (opens || session.snapshot()->inputs.recipe != inputs.recipe)
        session.openInputs(inputs);
}

LessonJson changesSince(const Recipe& setup, const Recipe& now)
{
    return patch(LessonJson::parse(recipeToJson(setup)), LessonJson::parse(recipeToJson(now)));
}

} // namespace qs
