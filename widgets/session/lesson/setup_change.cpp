// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/session/lesson/setup_change.h"

#include "core/quant/recipe/recipe_diff.h"
#include "core/quant/recipe/recipe_json.h"
#include "widgets/models/base/formatting.h"
#include "widgets/models/base/translated.h"
#include "widgets/models/base/true_minus.h"
#include "widgets/models/recipe/setting_changes.h"
#include "widgets/session/session.h"

#include <set>

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

/// "reduce range on", "highest 3"; JSON's null is what is not said any more.
QString changeText(const RecipeChange& change, const std::string& within)
{
    const QString key = toQt(change.field.substr(within.size())).replace(u'_', u' ');
    const LessonJson value = LessonJson::parse(change.after);
    if (value.is_null())
        return tr("%1 no longer set").arg(key);
    if (value.is_boolean())
        return tr("%1 %2").arg(key, value.get<bool>() ? tr("on") : tr("off"));
    if (value.is_number())
        return tr("%1 %2").arg(key, withTrueMinus(QString::number(value.get<double>(), 'g', 8)));
    return tr("%1 %2").arg(key, toQt(value.is_string() ? value.get<std::string>() : value.dump()));
}

QStringList changeText(const std::vector<RecipeChange>& changes, const std::string& within)
{
    QStringList words;
    for (const RecipeChange& change : changes)
        words << changeText(change, within);
    return words;
}

/// What chooses the range, with those of its numbers that are not its defaults.
QStringList calibratorWords(const std::optional<CalibratorOptions>& calibrator)
{
    if (!calibrator)
        return { tr("range as for all tensors") };
    Recipe defaults, own;
    own.calibration = *calibrator;
    defaults.calibration.kind = calibrator->kind;
    const std::string_view name = nameIn(kCalibrators, calibrator->kind);
    return QStringList { tr("range by %1").arg(toQt(std::string(name))) }
    + changeText(recipeDiff(defaults, own), "calibration.");
}

/// Of one tensor; empty: nothing is changed.
QString tensorWords(const std::string& name, TensorOverride before, TensorOverride after)
{
    if (before == after)
        return {};
    QStringList words;
    if (before.calibrator != after.calibrator)
        words << calibratorWords(after.calibrator);
    before.calibrator.reset();
    after.calibrator.reset();
    Recipe from, to;
    from.tensors[name] = before;
    to.tensors[name] = after;
    words = changeText(recipeDiff(from, to), "tensors." + name + ".") + words;
    return tr("%1: %2").arg(toQt(name), words.join(QStringLiteral(", ")));
}

TensorOverride ofTensor(const Recipe& recipe, const std::string& name)
{
    const auto found = recipe.tensors.find(name);
    return found == recipe.tensors.end() ? TensorOverride() : found->second;
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

QStringList changesInWords(const Recipe& setup, const Recipe& now)
{
    QStringList words;
    Recipe others = now;
    others.tensors = setup.tensors;
    for (const SettingChange& change : settingChanges(setup, others))
        words << change.text;
    std::set<std::string> names;
    for (const Recipe* recipe : { &setup, &now })
        for (const auto& [name, tensor] : recipe->tensors)
            names.insert(name);
    for (const std::string& name : names)
        if (const QString text = tensorWords(name, ofTensor(setup, name), ofTensor(now, name)); !text.isEmpty())
            words << text;
    return words;
}

} // namespace qs
