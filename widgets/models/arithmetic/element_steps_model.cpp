// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/arithmetic/element_steps_model.h"

#include "widgets/models/base/formatting.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

constexpr int kStepDigits = 9; ///< tell all float32 numbers apart
constexpr double kMostWhole = 1e15;

QString stepValue(double value)
{
    return value == std::round(value) && std::abs(value) < kMostWhole ? signedCount(qint64(value))
                                                                      : numberText(value, kStepDigits);
}

} // namespace

void ElementStepsModel::show(const ExplanationPtr& explanation)
{
    beginResetModel();
    m_rows.clear();
    m_steps = 0;
    if (explanation) {
        for (const ExplanationPtr& e : pathOf(explanation))
            addSteps(*e);
        if (explanation->difference && explanation->difference->total != 0)
            addDifference(*explanation->difference);
    }
    endResetModel();
}

void ElementStepsModel::addHeading(const QString& name)
{
    m_rows.push_back({ name, 0, true, m_steps, false, {}, false });
}

void ElementStepsModel::addSteps(const ElementExplanation& e)
{
    if (e.steps.empty() && !e.bias)
        return;
    addHeading(e.unitOperator.empty() ? toQt(e.opType) : toQt(e.unitOperator));
    const auto addConstant = [this](const QString& name, double value) {
        m_rows.push_back({ name, value, false, m_steps, false, {}, true });
    };
    if (e.bias)
        addConstant(e.bias->code ? tr("is the bias, code %1").arg(signedCount(*e.bias->code)) : tr("is the bias"),
            e.bias->real);
    if (e.multiplier)
        addConstant(tr("is the multiplier"), *e.multiplier);
    for (const ExplanationStep& step : e.steps) {
        m_rows.push_back({ toQt(step.name), step.value, false, m_steps, true, {}, true });
        ++m_steps;
    }
}

void ElementStepsModel::addDifference(const ElementDifference& d)
{
    const std::pair<QString, double> parts[] { { tr("carried in by inputs"), d.input }, { tr("weights"), d.weight },
        { tr("bias"), d.bias }, { tr("16-bit sums that saturate"), d.saturation },
        { tr("rounding to a code"), d.rounding }, { tr("clipping to the codes"), d.clipping },
        { tr("float sums in another order"), d.summation } };
    double largest = 0;
    for (const auto& part : parts)
        largest = std::max(largest, std::abs(part.second));
    addHeading(tr("Difference to the float network"));
    m_rows.back().step = m_steps - 1;
    for (const auto& [name, value] : parts)
        if (value != 0)
            m_rows.push_back({ name, value, false, m_steps - 1, false,
                largest > 0 ? std::optional(value / largest) : std::nullopt, false });
    m_rows.push_back({ tr("all together"), d.total, false, m_steps - 1, false, {}, false });
}

int ElementStepsModel::rowOfStep(int step) const
{
    const auto it = std::ranges::find_if(m_rows, [&](const Row& row) { return row.isStep && row.step == step; });
    return it == m_rows.end() ? -1 : int(it - m_rows.begin());
}

int ElementStepsModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : int(m_rows.size()); }

int ElementStepsModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : ColumnCount; }

QVariant ElementStepsModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    const Row& row = m_rows[size_t(index.row())];
    const bool value = index.column() == Value;
    switch (role) {
    case Qt::DisplayRole:
        if (row.heading)
            return value ? row.name : QString();
        if (!value)
            return row.name;
        return row.exact ? stepValue(row.value) : signedText(row.value);
    case Qt::ToolTipRole:
        return value && !row.heading ? numberText(row.value, kStepDigits) : row.name;
    case Qt::TextAlignmentRole:
        return int(Qt::AlignVCenter | (value && !row.heading ? Qt::AlignRight : Qt::AlignLeft));
    case HeadingRole:
        return row.heading;
    case ShareRole:
        return value && row.share ? QVariant(*row.share) : QVariant();
    case StepRole:
        return row.step;
    default:
        return {};
    }
}

QVariant ElementStepsModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    return section == Name ? tr("Step") : tr("Value");
}

} // namespace qs

#include "moc_element_steps_model.cpp"
