// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/recipe/recipe_fields.h"

#include "core/quant/params/float8.h"
#include "widgets/models/base/formatting.h"
#include "widgets/models/base/translated.h"
#include "widgets/models/base/true_minus.h"
#include "widgets/models/recipe/recipe_edits.h"

#include <algorithm>

namespace qs {

namespace {

QString inWords(std::string_view english) { return english.empty() ? QString() : tr(std::string(english).c_str()); }

/// The part after a colon belongs to the line above it.
QString shortLabel(const QString& title)
{
    const qsizetype colon = title.indexOf(u':');
    return colon < 0 ? title : QStringLiteral("   ") + title.mid(colon + 1).trimmed();
}

constexpr RecipeChoice kSwitch[] { { std::monostate(), "default" }, { false, "off" }, { true, "on" } };

/// Those of the line, or what a switch can be; none for a number.
std::span<const RecipeChoice> choicesOf(const RecipeOption& option)
{
    if (!option.line.choices.empty() || option.value.type.kind != SettingKind::Switch)
        return option.line.choices;
    return std::span(kSwitch).subspan(option.value.type.optional ? 0 : 1);
}

} // namespace

RecipeField::RecipeField(const RecipeOption& option)
    : title(inWords(option.line.title))
    , label(shortLabel(title))
    , toolTip(inWords(option.line.toolTip))
    , section(inWords(option.line.section))
    , m_option(&option)
{
    for (const RecipeChoice& choice : choicesOf(option)) {
        choices << inWords(choice.text);
        m_values.push_back(valueOf(choice));
    }
}

double RecipeField::get(const Recipe& recipe) const
{
    const RecipeValue value = m_option->value.get(recipe);
    if (choices.isEmpty())
        return std::holds_alternative<double>(value) ? std::get<double>(value) : double(std::get<int64_t>(value));
    const auto found = std::ranges::find(m_values, value);
    return found == m_values.end() ? -1 : double(found - m_values.begin());
}

void RecipeField::set(Recipe& recipe, double value) const
{
    if (!choices.isEmpty())
        m_option->value.set(recipe, m_values[size_t(value)]);
    else if (m_option->value.type.kind == SettingKind::Whole)
        m_option->value.set(recipe, int64_t(value));
    else
        m_option->value.set(recipe, value);
}

QString RecipeField::text(const Recipe& recipe) const
{
    const double value = get(recipe);
    if (choices.isEmpty())
        return withTrueMinus(QString::number(value, 'g', 8));
    return value < 0 ? tr("other") : choices[qsizetype(value)];
}

namespace {

/// No runtime has float8 for activations or for weights alone: what was not chosen follows what was.
void pairFloat8(Recipe& next, const Recipe& before)
{
    if (isFloat8(next.activationType) == isFloat8(next.weightType))
        return;
    if (next.activationType != before.activationType)
        next.weightType = isFloat8(next.activationType) ? next.activationType : DType::Int8;
    else
        next.activationType = isFloat8(next.weightType) ? next.weightType : DType::UInt8;
}

/// Float8 follows from deviations, which one calibrator finds, and from no range or scale that was given before; other
/// types follow from ranges.
void fitCalibration(Recipe& next, const Recipe& before, const Recipe& base)
{
    const bool now = isFloat8(next.activationType), then = isFloat8(before.activationType);
    if (now == then || !isStatic(next.format))
        return;
    if (!now) {
        if (next.calibration.kind == Calibrator::Distribution)
            next.calibration.kind
                = base.calibration.kind == Calibrator::Distribution ? Calibrator::MinMax : base.calibration.kind;
        return;
    }
    next.calibration.kind = Calibrator::Distribution;
    for (auto& [name, tensor] : next.tensors)
        for (QuantOverride& part : tensor.parts) {
            part.lowest.reset();
            part.highest.reset();
            part.scale.reset();
            part.zeroPoint.reset();
            part.type.reset();
        }
}

} // namespace

void applyField(RecipeEdits& edits, const RecipeField& field, double value)
{
    Recipe next = edits.recipe();
    field.set(next, value);
    pairFloat8(next, edits.recipe());
    fitCalibration(next, edits.recipe(), edits.base());
    const QString mergeKey = field.choices.isEmpty() ? toQt(field.path()) : QString();
    edits.apply(tr("%1 %2").arg(field.title, field.text(next)), next, mergeKey);
}

void resetField(RecipeEdits& edits, const RecipeField& field)
{
    Recipe next = edits.recipe();
    field.copy(next, edits.base());
    if (isFloat8(next.activationType) != isFloat8(next.weightType)) {
        next.activationType = edits.base().activationType;
        next.weightType = edits.base().weightType;
    }
    fitCalibration(next, edits.recipe(), edits.base());
    edits.apply(tr("Reset %1").arg(field.title), next);
}

const std::vector<RecipeField>& recipeFields()
{
    static const std::vector<RecipeField> kFields = [] {
        std::vector<RecipeField> fields;
        for (const RecipeOption* option : recipeLines())
            fields.emplace_back(*option);
        return fields;
    }();
    return kFields;
}

} // namespace qs
