// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/session/shown/compared_names.h"

#include "widgets/models/base/formatting.h"
#include "widgets/models/base/translated.h"

#include <tuple>

namespace qs {

namespace {

QString nameOfRun(const RunTree& runs, const Recipe& recipe, const QString& unknown)
{
    for (const RecipeRun& run : runs.runs())
        if (!run.imported && run.recipe == recipe)
            return toQt(run.name);
    return unknown;
}

} // namespace

ComparedNames comparedNames(const Snapshot& snapshot, const RunTree& runs)
{
    const Asked& inputs = snapshot.inputs;
    const OtherQuantized& other = inputs.other;
    ComparedNames names { fileName(inputs.quantPath), fileName(other.path) };
    if (!inputs.recipe && names.a == names.b)
        std::tie(names.a, names.b) = fileNames(inputs.quantPath, other.path);
    if (inputs.recipe)
        names.a = nameOfRun(runs, *inputs.recipe, tr("the recipe"));
    if (other.recipe)
        names.b = nameOfRun(runs, *other.recipe, tr("another run"));
    return names;
}

} // namespace qs
