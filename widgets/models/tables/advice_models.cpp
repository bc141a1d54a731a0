// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/tables/advice_models.h"

#include "widgets/models/base/formatting.h"

#include <QCoreApplication>

#include <array>

namespace qs {

namespace {

struct ColumnText {
    const char *title, *toolTip;
};

QVariant headerOf(const ColumnText& text, bool left, int role, const char* context)
{
    if (role == Qt::DisplayRole)
        return QCoreApplication::translate(context, text.title);
    if (role == Qt::ToolTipRole)
        return QCoreApplication::translate(context, text.toolTip);
    if (role == Qt::TextAlignmentRole)
        return int((left ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    return {};
}

} // namespace

int SensitivityModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : int(m_units.size()); }

int SensitivityModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : ColumnCount; }

Number SensitivityModel::number(const UnitSensitivity& unit, int column) const
{
    switch (column) {
    case Gain: {
        const Number without = unit.without.sqnrDb(), all = m_all.sqnrDb();
        return without && all ? Number(*without - *all) : Number();
    }
    case Without:
        return unit.without.sqnrDb();
    case Alone:
        return unit.alone.sqnrDb();
    case Macs:
        return unit.macShare;
    default:
        return {};
    }
}

QString SensitivityModel::text(const UnitSensitivity& unit, int column) const
{
    switch (column) {
    case Unit:
        return toQt(unit.name);
    case Op:
        return toQt(unit.opType);
    case Gain: {
        const Number gain = number(unit, Gain);
        return gain ? signedDecibelText(*gain) : unit.without.exact() ? tr("exact") : absentText();
    }
    case Without:
        return decibelText(number(unit, Without), unit.without.exact());
    case Alone:
        return decibelText(number(unit, Alone), unit.alone.exact());
    default:
        return percentText(unit.macShare);
    }
}

QVariant SensitivityModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    const UnitSensitivity& unit = m_units[size_t(index.row())];
    const bool left = index.column() == Unit || index.column() == Op;
    switch (role) {
    case Qt::DisplayRole:
        return text(unit, index.column());
    case Qt::ToolTipRole:
        return index.column() == Unit ? toQt(unit.name) : headerData(index.column(), Qt::Horizontal, Qt::ToolTipRole);
    case Qt::TextAlignmentRole:
        return int((left ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    case NameRole:
        return toQt(unit.name);
    case SortRole:
        if (left)
            return text(unit, index.column());
        if (const Number value = number(unit, index.column()))
            return *value;
        return {};
    default:
        return {};
    }
}

QVariant SensitivityModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    static constexpr std::array<ColumnText, ColumnCount> kTexts { {
        { QT_TR_NOOP("unit"), QT_TR_NOOP("What would be left in float") },
        { QT_TR_NOOP("op"), QT_TR_NOOP("Its operator type") },
        { QT_TR_NOOP("gain"), QT_TR_NOOP("What the outputs gain when this is left in float, in dB") },
        { QT_TR_NOOP("without it"), QT_TR_NOOP("SQNR of the outputs with all but this quantized, in dB") },
        { QT_TR_NOOP("it alone"), QT_TR_NOOP("SQNR of the outputs with nothing but this quantized, in dB") },
        { QT_TR_NOOP("MACs"), QT_TR_NOOP("Its share of the Conv, Gemm and MatMul work") },
    } };
    if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount)
        return {};
    return headerOf(kTexts[size_t(section)], section <= Op, role, "qs::SensitivityModel");
}

void SensitivityModel::setSensitivity(const Sensitivity* sensitivity)
{
    beginResetModel();
    m_units = sensitivity ? sensitivity->units : std::vector<UnitSensitivity> {};
    m_all = sensitivity ? sensitivity->quantized : OutputScore {};
    endResetModel();
}

int FoundRecipeModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : int(m_found.size()); }

int FoundRecipeModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : ColumnCount; }

QVariant FoundRecipeModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    const FoundRecipe& found = m_found[size_t(index.row())];
    const int column = index.column();
    if (role == Qt::TextAlignmentRole)
        return int((column == Name ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    const Number value = column == Sqnr ? found.numbers.outputSqnrDb : found.numbers.accuracy;
    if (role == SortRole)
        return column == Name ? QVariant(toQt(found.name)) : value ? QVariant(*value) : QVariant();
    if (role != Qt::DisplayRole && role != Qt::ToolTipRole)
        return {};
    if (column == Name)
        return toQt(found.name);
    return column == Sqnr ? decibelText(value, found.numbers.exact) : percentText(value);
}

QVariant FoundRecipeModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    static constexpr std::array<ColumnText, ColumnCount> kTexts { {
        { QT_TR_NOOP("recipe"), QT_TR_NOOP("Calibrator, granularity and range of weights; the rest as it is now") },
        { QT_TR_NOOP("output"), QT_TR_NOOP("SQNR of the first output in dB, higher is better") },
        { QT_TR_NOOP("accuracy"), QT_TR_NOOP("Share of samples with the right class; needs labels") },
    } };
    if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount)
        return {};
    return headerOf(kTexts[size_t(section)], section == Name, role, "qs::FoundRecipeModel");
}

void FoundRecipeModel::setFound(const std::vector<FoundRecipe>& found)
{
    beginResetModel();
    m_found = found;
    endResetModel();
}

} // namespace qs
